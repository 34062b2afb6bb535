/* test_arguments.c - what a caller gave for the parameters of an answer: refused, or read by name. */
#include "rows/arguments.h"

#include <criterion/criterion.h>
#include <string.h>

static const hdx_column    plain[1], grouped[2];
static const hdx_parameter parameters[] = {
    { .name = "live", .kind = HDX_PARAMETER_FLAG, .preset = "true" },
    { .name = "tree", .kind = HDX_PARAMETER_FLAG, .excludes = "depth by", .needs = "live" },
    { .name = "depth", .kind = HDX_PARAMETER_NUMBER, .value = "N", .least = 1, .most = 9, .preset = "3" },
    { .name = "from", .kind = HDX_PARAMETER_NUMBER, .value = "N", .least = 2 },
    { .name = "above", .kind = HDX_PARAMETER_SIZE, .value = "SIZE" },
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "WORD",
      .choices = "class loader package",
      .preset = "class" },
    { .name = "kinds", .kind = HDX_PARAMETER_CHOICES, .value = "WORDS", .choices = "soft weak phantom" },
    { .name = "class", .kind = HDX_PARAMETER_CLASSES, .value = "PATTERN" },
    { .name = "exclude", .kind = HDX_PARAMETER_CLASSES, .flags = HDX_PARAMETER_REPEATED, .value = "PATTERN" },
    { .name = "field", .kind = HDX_PARAMETER_FIELD, .value = "CLASS#FIELD", .needs = "class" },
    { .name = "text", .kind = HDX_PARAMETER_TEXT, .value = "TEXT" },
};
static const hdx_parameter common[] = {
    { .name = "where", .kind = HDX_PARAMETER_TEXT, .flags = HDX_PARAMETER_REPEATED, .value = "CONDITION" },
    { .name = "limit", .kind = HDX_PARAMETER_NUMBER, .value = "N" },
};
static const hdx_form   forms[] = { { "tree", "true", grouped, 2 },
                                    { "by", "loader", plain, 1 },
                                    { NULL, NULL, plain, 1 } };
static const hdx_answer answer = { .name = "things",
                                   .forms = forms,
                                   .form_count = 3,
                                   .parameters = parameters,
                                   .parameter_count = sizeof parameters / sizeof *parameters };

#define GIVEN(...)                                                                                                     \
    (hdx_arguments)                                                                                                    \
    {                                                                                                                  \
        &answer, (const hdx_argument[]){ __VA_ARGS__ },                                                                \
            sizeof((const hdx_argument[]){ __VA_ARGS__ }) / sizeof(hdx_argument)                                       \
    }
#define CHECK(a, err) hdx_arguments_check(&(a), common, 2, "--", err)

static void expect(hdx_arguments a, const char *message, const char *hint)
{
    hdx_error err = { .hint = "" };
    hdx_code  code = CHECK(a, &err);
    cr_expect(code == (message == NULL ? HDX_OK : HDX_USAGE), "%s=%s: %d %s", a.at[0].name, a.at[0].value, code,
              err.message);
    if (message != NULL)
        cr_expect_str_eq(err.message, message);
    cr_expect_str_eq(err.hint, hint == NULL ? "" : hint);
}

Test(arguments, of_a_flag_are_true_or_false)
{
    expect(GIVEN({ "live", NULL }), NULL, NULL);
    expect(GIVEN({ "live", "true" }), NULL, NULL);
    expect(GIVEN({ "live", "false" }), NULL, NULL);
    expect(GIVEN({ "live", "yes" }), "--live must be true or false, not 'yes'", NULL);
    expect(GIVEN({ "live", "" }), "--live must be true or false, not ''", NULL);
}

Test(arguments, that_need_a_value_say_which)
{
    expect(GIVEN({ "depth", NULL }), "--depth needs a value: N", NULL);
    expect(GIVEN({ "class", NULL }), "--class needs a value: PATTERN", NULL);
}

Test(arguments, that_are_numbers_lie_between_their_bounds)
{
    static const char *const good[] = { "1", "9", "5", "007" };
    static const char *const bad[] = { "0",  "10", "", "-1", "+1", " 1", "1 ", "1x", "x", "99999999999999999999",
                                       "5K", "/",  ":" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        expect(GIVEN({ "depth", good[i] }), NULL, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hdx_arguments a = GIVEN({ "depth", bad[i] });
        cr_expect(CHECK(a, NULL) == HDX_USAGE, "%s", bad[i]);
    }
    expect(GIVEN({ "depth", "10" }), "--depth '10': expected a whole number from 1 to 9", NULL);
    expect(GIVEN({ "from", "2" }), NULL, NULL);
    expect(GIVEN({ "from", "18446744073709551615" }), NULL, NULL);
    expect(GIVEN({ "from", "1" }), "--from '1': expected a whole number from 2", NULL);
}

Test(arguments, that_are_sizes_have_units)
{
    expect(GIVEN({ "above", "1048576" }), NULL, NULL);
    expect(GIVEN({ "above", "768M" }), NULL, NULL);
    expect(GIVEN({ "above", "much" }), "--above 'much': expected a size such as 768M, 4G or 1048576", NULL);
}

Test(arguments, that_choose_are_among_the_words)
{
    expect(GIVEN({ "by", "class" }), NULL, NULL);
    expect(GIVEN({ "by", "package" }), NULL, NULL);
    expect(GIVEN({ "by", "lader" }), "--by 'lader' is none of: class loader package", "did you mean 'loader'?");
    expect(GIVEN({ "by", "pakage" }), "--by 'pakage' is none of: class loader package", "did you mean 'package'?");
    expect(GIVEN({ "by", "class loader" }), "--by 'class loader' is none of: class loader package", NULL);
    expect(GIVEN({ "by", "" }), "--by '' is none of: class loader package", NULL);
    expect(GIVEN({ "by", "klass,but far more than forty characters of it" }),
           "--by 'klass,but far more than forty characters' is none of: class loader package", NULL);
    expect(GIVEN({ "kinds", "soft" }), NULL, NULL);
    expect(GIVEN({ "kinds", "phantom,soft,weak,soft" }), NULL, NULL);
    expect(GIVEN({ "kinds", "soft,weka,phantom" }), "--kinds 'weka' is none of: soft weak phantom",
           "did you mean 'weak'?");
    expect(GIVEN({ "kinds", "soft," }), "--kinds '' is none of: soft weak phantom", NULL);
    expect(GIVEN({ "kinds", "" }), "--kinds '' is none of: soft weak phantom", NULL);
    expect(GIVEN({ "kinds", "soft,0123456789012345678901234567890123456789012" }),
           "--kinds '0123456789012345678901234567890123456789' is none of: soft weak phantom", NULL);
}

Test(arguments, that_are_fields_have_a_class)
{
    expect(GIVEN({ "field", "a.B#c" }, { "class", "x" }), NULL, NULL);
    expect(GIVEN({ "field", "a.B.c" }, { "class", "x" }),
           "--field 'a.B.c': expected CLASS#FIELD, such as com.acme.Cache#entries", NULL);
}

Test(arguments, that_nobody_declared_are_refused_with_the_nearest)
{
    expect(GIVEN({ "where", "x > 1" }, { "where", "y > 1" }, { "limit", "5" }), NULL, NULL);
    expect(GIVEN({ "limt", "5" }), "'things' takes no --limt", "did you mean --limit?");
    expect(GIVEN({ "clas", "5" }), "'things' takes no --clas", "did you mean --class?");
    expect(GIVEN({ "live", NULL }, { "something else", "5" }), "'things' takes no --something else", NULL);
}

/* Of patterns a second would hide the first; of numbers the last one holds. */
Test(arguments, given_twice_hold_as_last_said_but_for_patterns)
{
    hdx_arguments a = GIVEN({ "depth", "4" }, { "live", "false" }, { "depth", "5" });
    cr_expect(CHECK(a, NULL) == HDX_OK && hdx_argument_number(&a, "depth") == 5);
    expect(GIVEN({ "class", "a" }, { "live", NULL }, { "class", "b" }), "--class is given twice", NULL);
    hdx_arguments      b = GIVEN({ "exclude", "a" }, { "text", "t" }, { "exclude", "b" });
    hdx_arena          arena = hdx_arena_of(NULL);
    const char *const *texts;
    size_t             count = 9;
    cr_expect(CHECK(b, NULL) == HDX_OK);
    cr_assert(hdx_argument_texts(&b, "exclude", &arena, &texts, &count, NULL) == HDX_OK && count == 2);
    cr_expect(strcmp(texts[0], "a") == 0 && strcmp(texts[1], "b") == 0);
    cr_assert(hdx_argument_texts(&b, "class", &arena, &texts, &count, NULL) == HDX_OK && count == 0);
    hdx_arena_free(&arena);
}

Test(arguments, keep_company)
{
    expect(GIVEN({ "tree", NULL }, { "live", NULL }), NULL, NULL);
    expect(GIVEN({ "tree", NULL }), "--tree needs --live", NULL);
    expect(GIVEN({ "tree", "true" }, { "live", NULL }, { "by", "class" }), "--tree and --by cannot be used together",
           NULL);
    expect(GIVEN({ "depth", "2" }, { "tree", NULL }, { "live", NULL }), "--tree and --depth cannot be used together",
           NULL);
    expect(GIVEN({ "tree", "false" }, { "depth", "2" }), NULL, NULL); /* not asked for after all */
    expect(GIVEN({ "field", "a#b" }), "--field needs --class", NULL);
}

Test(arguments, are_read_by_name_with_what_holds_where_they_are_not_given)
{
    hdx_arguments none = { &answer, NULL, 0 };
    cr_expect(hdx_argument_flag(&none, "live") && !hdx_argument_flag(&none, "tree"));
    cr_expect(hdx_argument_number(&none, "depth") == 3 && hdx_argument_number(&none, "from") == 0);
    cr_expect(hdx_argument_choice(&none, "by") == 0 && hdx_argument_choice(&none, "kinds") == -1);
    cr_expect(hdx_argument_choices(&none, "kinds") == 0);
    cr_expect(hdx_argument_text(&none, "text") == NULL);
    cr_expect_str_eq(hdx_argument_text(&none, "by"), "class");
    hdx_arguments a = GIVEN({ "live", "false" }, { "tree", NULL }, { "depth", "7" }, { "above", "2K" },
                            { "by", "package" }, { "kinds", "phantom,soft" }, { "text", "t" }, { "limit", "12" });
    cr_expect(!hdx_argument_flag(&a, "live") && hdx_argument_flag(&a, "tree"));
    cr_expect(hdx_argument_number(&a, "depth") == 7 && hdx_argument_number(&a, "above") == 2048);
    cr_expect(hdx_argument_choice(&a, "by") == 2 && hdx_argument_choices(&a, "kinds") == 5);
    cr_expect_str_eq(hdx_argument_text(&a, "text"), "t");
    cr_expect_str_eq(hdx_argument_text(&a, "tree"), "true");
    cr_expect(hdx_argument_number(&a, "limit") == 12);
    hdx_arguments two = GIVEN({ "kinds", "soft" }, { "kinds", "weak" }); /* both hold */
    cr_expect(hdx_argument_choices(&two, "kinds") == 3);
}

Test(words, have_their_place)
{
    cr_expect(hdx_word_place("soft weak phantom", "soft", 4) == 0);
    cr_expect(hdx_word_place("soft weak phantom", "weak", 4) == 1);
    cr_expect(hdx_word_place("soft weak phantom", "phantom", 7) == 2);
    cr_expect(hdx_word_place("soft weak phantom", "phantom", 6) == -1);
    cr_expect(hdx_word_place("soft weak phantom", "soft weak", 9) == -1);
    cr_expect(hdx_word_place("soft weak phantom", "wea", 3) == -1);
    cr_expect(hdx_word_place("soft weak phantom", "", 0) == -1);
    cr_expect(hdx_word_place("", "", 0) == -1);
    cr_expect(hdx_word_place(NULL, "soft", 4) == -1);
}

Test(forms, follow_from_the_arguments)
{
    hdx_arguments none = { &answer, NULL, 0 }, tree = GIVEN({ "tree", NULL }), loader = GIVEN({ "by", "loader" }),
                  no_tree = GIVEN({ "tree", "false" }), both = GIVEN({ "by", "loader" }, { "tree", "true" });
    cr_expect(hdx_arguments_form(&none) == &forms[2]);
    cr_expect(hdx_arguments_form(&tree) == &forms[0]);
    cr_expect(hdx_arguments_form(&loader) == &forms[1]);
    cr_expect(hdx_arguments_form(&no_tree) == &forms[2]);
    cr_expect(hdx_arguments_form(&both) == &forms[0]);
    static const hdx_answer always = {
        .name = "always", .forms = forms, .form_count = 1, .parameters = parameters, .parameter_count = 2
    };
    hdx_arguments first = { &always, NULL, 0 };
    cr_expect(hdx_arguments_form(&first) == &forms[0]); /* none holds: the first */
}

/* ---- what must be there ---- */

Test(required, parameters_are_named_as_they_are_given)
{
    static const hdx_parameter needed[] = {
        { .name = "object",
          .kind = HDX_PARAMETER_OBJECTS,
          .flags = HDX_PARAMETER_REQUIRED | HDX_PARAMETER_WORD,
          .value = "OBJECT" },
        { .name = "to",
          .kind = HDX_PARAMETER_CHOICE,
          .flags = HDX_PARAMETER_REQUIRED,
          .value = "PLACE",
          .choices = "here there" },
        { .name = "sure", .kind = HDX_PARAMETER_FLAG, .flags = HDX_PARAMETER_REQUIRED },
    };
    static const hdx_answer  moves = { .name = "move", .parameters = needed, .parameter_count = 3 };
    const hdx_argument       all[] = { { "object", "#1" }, { "to", "here" }, { "sure", NULL } };
    static const char *const messages[] = { "'move' needs OBJECT", "'move' needs --to PLACE", "'move' needs --sure" },
                             *const hints[] = { "", "there are: here there", "" };
    for (size_t count = 0; count < 3; count++) {
        hdx_arguments a = { &moves, all, count };
        hdx_error     err = { .hint = "" };
        cr_expect(CHECK(a, &err) == HDX_USAGE);
        cr_expect_str_eq(err.message, messages[count]);
        cr_expect_str_eq(err.hint, hints[count]);
    }
    hdx_arguments a = { &moves, all, 3 };
    cr_expect(CHECK(a, NULL) == HDX_OK);
}

Test(required, one_of_several_is_enough)
{
    static const hdx_parameter either[] = {
        { .name = "class", .kind = HDX_PARAMETER_CLASSES, .flags = HDX_PARAMETER_EITHER, .value = "PATTERN" },
        { .name = "live", .kind = HDX_PARAMETER_FLAG },
        { .name = "object",
          .kind = HDX_PARAMETER_OBJECTS,
          .flags = HDX_PARAMETER_EITHER | HDX_PARAMETER_WORD,
          .value = "OBJECT" },
    };
    static const hdx_answer asks = { .name = "path", .parameters = either, .parameter_count = 3 };
    const hdx_argument      none[] = { { "live", NULL } }, by_class[] = { { "class", "a" } },
                       by_word[] = { { "object", "#1" } }, both[] = { { "class", "a" }, { "object", "#1" } };
    hdx_error     err;
    hdx_arguments a = { &asks, none, 1 };
    cr_expect(CHECK(a, &err) == HDX_USAGE);
    cr_expect_str_eq(err.message, "'path' takes --class PATTERN or OBJECT, but got neither");
    a = (hdx_arguments){ &asks, by_class, 1 };
    cr_expect(CHECK(a, &err) == HDX_OK);
    a = (hdx_arguments){ &asks, by_word, 1 };
    cr_expect(CHECK(a, &err) == HDX_OK);
    a = (hdx_arguments){ &asks, both, 2 };
    cr_expect(CHECK(a, &err) == HDX_OK);
}
