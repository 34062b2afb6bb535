"""Checks what readers of reports require, using only the standard library.

schema_problems(document, schema): JSON Schema, as far as sarif.schema.json uses it.
sarif_problems(document): what no schema says of SARIF 2.1.0, and what GitHub's code scanning demands of an upload.
junit_problems(root): the JUnit schema of Ant (the strictest in use) and, by that, the one of Jenkins.
"""

import re

# ---- JSON Schema ----

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}
KNOWN = {"type", "enum", "const", "pattern", "minLength", "maxLength", "minimum", "minItems", "maxItems", "uniqueItems",
         "items", "required", "properties", "additionalProperties", "minProperties", "$ref", "format", "description",
         "definitions", "$schema", "$id", "title"}


def _is(value, kind):
    if kind in ("integer", "number"):
        whole = isinstance(value, int) or isinstance(value, float) and value.is_integer()
        return not isinstance(value, bool) and (whole if kind == "integer" else isinstance(value, (int, float)))
    return isinstance(value, TYPES[kind])


def schema_problems(value, schema, whole=None, at="$"):
    whole = schema if whole is None else whole
    if "$ref" in schema:
        kind = whole
        for step in schema["$ref"].removeprefix("#/").split("/"):
            kind = kind[step]
        return schema_problems(value, kind, whole, at)
    found = [f"{at}: the schema has {key}, which this test does not know" for key in schema if key not in KNOWN]
    if "type" in schema and not _is(value, schema["type"]):
        return found + [f"{at}: {str(value)[:60]!r} is not of type {schema['type']}"]
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        found.append(f"{at}: {str(value)[:60]!r} is none of what is allowed")
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            found.append(f"{at}: {value[:60]!r} does not match {schema['pattern']}")
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            found.append(f"{at}: {len(value)} characters")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            found.append(f"{at}: {value} is less than {schema['minimum']}")
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{at}: {len(value)} items")
        if schema.get("uniqueItems") and any(one in value[:i] for i, one in enumerate(value)):
            found.append(f"{at}: an item stands there twice")
        for i, one in enumerate(value):
            found += schema_problems(one, schema.get("items", {}), whole, f"{at}[{i}]")
    elif isinstance(value, dict):
        found += [f"{at}: {key} is missing" for key in schema.get("required", []) if key not in value]
        if len(value) < schema.get("minProperties", 0):
            found.append(f"{at}: {len(value)} keys")
        more = schema.get("additionalProperties", True)
        for key, one in value.items():
            if key in schema.get("properties", {}):
                found += schema_problems(one, schema["properties"][key], whole, f"{at}.{key}")
            elif more is False:
                found.append(f"{at}: {key} is not expected")
            elif isinstance(more, dict):
                found += schema_problems(one, more, whole, f"{at}.{key}")
    return found


# ---- SARIF ----

LIMITS = {"runs": 20, "results": 25_000, "rules": 25_000, "locations": 1000, "steps": 10_000}  # of an upload to GitHub


def _sentence(text):
    """GitHub shows texts as sentences."""
    return text[:1].strip() != "" and text.endswith(".")


def sarif_problems(sarif):
    found = []

    def expect(true, what):
        if not true:
            found.append(what)

    expect(sarif.get("version") == "2.1.0" and "sarif" in sarif.get("$schema", ""), "version or $schema")
    expect(len(sarif["runs"]) <= LIMITS["runs"], "too many runs")
    for run in sarif["runs"]:
        driver, results = run["tool"]["driver"], run["results"]
        rules = driver.get("rules", [])
        expect(driver.get("name"), "the tool has no name")
        expect(len(rules) <= LIMITS["rules"] and len(results) <= LIMITS["results"], "too many rules or results")
        ids = [rule.get("id") for rule in rules]
        expect(len(ids) == len(set(ids)) and all(ids), f"ids of rules: {ids}")
        for rule in rules:
            for key in ("shortDescription", "fullDescription", "help"):  # GH2012 of GitHub's validator
                text = rule.get(key, {}).get("text", "")
                expect(0 < len(text) <= 1024, f"rule {rule.get('id')}: {key}: {len(text)} characters")
            expect(_sentence(rule.get("help", {}).get("text", "")), f"rule {rule.get('id')}: help is no sentence")
            expect(len(rule.get("id", "")) <= 255, f"rule {rule.get('id')}: the id is too long")
        prints = [(result.get("ruleId"), str(result.get("partialFingerprints"))) for result in results]
        expect(len(prints) == len(set(prints)), "two results of a rule have one fingerprint")
        for number, result in enumerate(results):
            of = f"result {number}"
            place = result.get("ruleIndex", -1)
            expect(0 <= place < len(rules) and ids[place] == result.get("ruleId"), f"{of}: ruleIndex {place}")
            expect(result.get("message", {}).get("text"), f"{of}: no message")
            expect(result.get("partialFingerprints"), f"{of}: no fingerprint")
            locations = result.get("locations", [])
            expect(1 <= len(locations) <= LIMITS["locations"], f"{of}: {len(locations)} locations")
            for location in locations:
                physical = location.get("physicalLocation", {})
                expect(physical.get("artifactLocation", {}).get("uri"), f"{of}: no uri")
                expect(physical.get("region", {}).get("startLine", 0) >= 1, f"{of}: no line")
            flows = [one for flow in result.get("codeFlows", []) for one in flow["threadFlows"]]
            expect(sum(len(flow["locations"]) for flow in flows) <= LIMITS["steps"], f"{of}: too many steps")
    return found


# ---- JUnit ----

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"  # without a zone
SUITE = {"name": r"\s*\S[\s\S]*", "package": r"[\s\S]*", "id": r"\d+", "timestamp": TIME, "hostname": r"\s*\S[\s\S]*",
         "tests": r"\d+", "failures": r"\d+", "errors": r"\d+", "time": r"\d+(\.\d+)?"}
CASE = {"name": r"[\s\S]+", "classname": r"[\s\S]+", "time": r"\d+(\.\d+)?"}
FAILURE = {"type": r"[\s\S]*", "message": r"[\s\S]*"}


def _attributes(element, wanted, optional=()):
    found = [f"{element.tag}: {name} is missing" for name in wanted if name not in element.attrib and
             name not in optional]
    for name, value in element.attrib.items():
        if name not in wanted:
            found.append(f"{element.tag}: an attribute {name}")
        elif not re.fullmatch(wanted[name], value):
            found.append(f"{element.tag}: {name} is {value[:60]!r}")
    return found


def _only_blanks(element):
    return not (element.text or "").strip() and not any((one.tail or "").strip() for one in element)


def _case_problems(case):
    found = _attributes(case, CASE)
    inside = list(case)
    if len(inside) > 1 or any(one.tag not in ("failure", "error") for one in inside) or not _only_blanks(case):
        found.append(f"testcase {case.get('name')}: {[one.tag for one in inside]}")
    for one in inside:
        found += _attributes(one, FAILURE, optional=("message",))
        found += [f"{one.tag}: has {len(one)} elements"] if len(one) else []
    return found


def junit_problems(root):
    is_plain = root.tag == "testsuites" and not root.attrib and _only_blanks(root)
    found = [] if is_plain else [f"{root.tag}: {root.attrib}"]
    for number, suite in enumerate(root):
        tags = [one.tag for one in suite]
        cases = suite.findall("testcase")
        if suite.tag != "testsuite" or tags != ["properties"] + ["testcase"] * len(cases) + ["system-out",
                                                                                             "system-err"]:
            found.append(f"{suite.tag}: {tags}")
        properties = suite.findall("properties/property")
        found += [] if properties else ["properties: there is none, which old schemas of Jenkins demand"]
        for one in properties:
            found += _attributes(one, {"name": r"\s*\S[\s\S]*", "value": r"[\s\S]*"})
        found += _attributes(suite, SUITE)
        found += [] if _only_blanks(suite) else ["testsuite: text between elements"]
        if suite.get("id") != str(number):
            found.append(f"testsuite: id {suite.get('id')} of suite {number}")
        for key, elements in ("tests", cases), ("failures", suite.findall("testcase/failure")), (
                "errors", suite.findall("testcase/error")):
            if suite.get(key) != str(len(elements)):
                found.append(f"testsuite: {suite.get(key)} {key}, and there are {len(elements)}")
        for case in cases:
            found += _case_problems(case)
        names = [(case.get("classname"), case.get("name")) for case in cases]
        found += [] if len(names) == len(set(names)) else [f"two cases of one name: {names}"]
    return found
