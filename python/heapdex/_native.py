"""The declarations of the C library (include/heapdex): constants, structures and functions.

No other module declares C. The test python.layout compares every name here with the C compiler: values of constants,
size, offset and kind of every field, and the types of every parameter and result.
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32
from ctypes import c_uint64, c_void_p
from typing import Any, Dict, List, Tuple

# ---- constants ----

HDX_NOWHERE = (1 << 64) - 1

HDX_OK = 0
HDX_USAGE = 1
HDX_BAD_DUMP = 2
HDX_NOT_FOUND = 3
HDX_DAMAGED = 4
HDX_LIMIT = 5
HDX_IO = 6
HDX_BUSY = 7
HDX_CANCELLED = 8

HDX_TYPE_UNSIGNED = 0
HDX_TYPE_SIGNED = 1
HDX_TYPE_REAL = 2
HDX_TYPE_BOOL = 3
HDX_TYPE_TEXT = 4
HDX_TYPE_ADDRESS = 5

HDX_COLUMN_WIDE = 2
HDX_COLUMN_OPTIONAL = 4
HDX_COLUMN_LATE = 8

HDX_PARAMETER_OBJECTS = 7
HDX_PARAMETER_WORD = 4
HDX_ANSWER_HEAP = 16

HDX_CURSOR_SIZE = 32

HDX_FLEET_PARQUET = 0
HDX_FLEET_CSV = 1
HDX_FLEET_SQLITE = 2

HDX_FORMAT_JSONL = 2

HDX_REPORT_HTML = 0
HDX_REPORT_MARKDOWN = 1
HDX_REPORT_JSON = 2

HDX_PICTURE_SVG = 3


# ---- structures ----

#: Names in Python of fields whose C names are keywords of Python.
RENAMED = {"is_": "is"}


class Error(ctypes.Structure):
    c_name = "hdx_error"
    _fields_ = [
        ("code", c_int),
        ("offset", c_uint64),
        ("where", c_char * 256),
        ("message", c_char * 256),
        ("hint", c_char * 256),
    ]


class ProgressReport(ctypes.Structure):
    c_name = "hdx_progress_report"
    _fields_ = [
        ("step", c_char_p),
        ("number", c_uint),
        ("steps", c_uint),
        ("done", c_uint64),
        ("total", c_uint64),
        ("unit", c_char_p),
    ]


#: The callback `report` of a Progress.
Reporter = CFUNCTYPE(None, c_void_p, POINTER(ProgressReport))


class Progress(ctypes.Structure):
    c_name = "hdx_progress"
    _fields_ = [("context", c_void_p), ("report", c_void_p), ("cancelled", c_void_p)]


class Options(ctypes.Structure):
    c_name = "hdx_index_options"
    _fields_ = [
        ("dump", c_char_p),
        ("index_dir", c_char_p),
        ("dump_number", c_uint32),
        ("threads", c_uint),
        ("memory", c_uint64),
        ("max_uncompressed", c_uint64),
        ("force", c_bool),
        ("no_build", c_bool),
        ("no_wait", c_bool),
        ("until", c_int),
        ("width", c_uint),
        ("progress", Progress),
        ("notice", c_void_p),
        ("notice_context", c_void_p),
        ("first_pass", c_void_p),
        ("first_pass_context", c_void_p),
    ]


class SqlOptions(ctypes.Structure):
    c_name = "hdx_sql_options"
    _fields_ = [
        ("scope", c_int),
        ("rows", c_uint64),
        ("seconds", c_uint64),
        ("memory", c_uint64),
        ("view", c_char_p),
        ("names", POINTER(c_char_p)),
        ("name_count", c_size_t),
    ]


class Argument(ctypes.Structure):
    c_name = "hdx_argument"
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Column(ctypes.Structure):
    c_name = "hdx_column"


Column._fields_ = [
    ("name", c_char_p),
    ("type", c_int),
    ("unit", c_int),
    ("flags", c_uint),
    ("sentence", c_char_p),
    ("members", POINTER(Column)),
    ("member_count", c_uint),
]


class Form(ctypes.Structure):
    c_name = "hdx_form"
    _fields_ = [
        ("parameter", c_char_p),
        ("is_", c_char_p),
        ("columns", POINTER(Column)),
        ("column_count", c_uint),
    ]


class Parameter(ctypes.Structure):
    c_name = "hdx_parameter"
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int),
        ("flags", c_uint),
        ("value", c_char_p),
        ("choices", c_char_p),
        ("preset", c_char_p),
        ("excludes", c_char_p),
        ("needs", c_char_p),
        ("least", c_uint64),
        ("most", c_uint64),
        ("sentence", c_char_p),
    ]


class Answer(ctypes.Structure):
    c_name = "hdx_answer"
    _fields_ = [
        ("name", c_char_p),
        ("flags", c_uint),
        ("sentence", c_char_p),
        ("more", c_char_p),
        ("examples", c_char_p * 2),
        ("forms", POINTER(Form)),
        ("form_count", c_uint),
        ("document", POINTER(Column)),
        ("document_count", c_uint),
        ("parameters", POINTER(Parameter)),
        ("parameter_count", c_uint),
        ("order", c_char_p),
    ]


class Fleet(ctypes.Structure):
    c_name = "hdx_fleet_options"
    _fields_ = [
        ("out", c_char_p),
        ("dump_id", c_char_p),
        ("format", c_int),
        ("tables", c_char_p),
        ("manifest", POINTER(Argument)),
        ("manifest_count", c_size_t),
        ("file", c_char_p),
        ("seconds", c_double),
        ("peak_bytes", c_uint64),
        ("failure", POINTER(Error)),
        ("failed", POINTER(c_uint)),
        ("progress", Progress),
    ]


class RowsCut(ctypes.Structure):
    c_name = "hdx_rows_cut"
    _fields_ = [
        ("before", c_uint64),
        ("rows", c_uint64),
        ("objects", c_uint64),
        ("retained", c_uint64),
        ("cursor", c_char * HDX_CURSOR_SIZE),
    ]


class RenderOptions(ctypes.Structure):
    c_name = "hdx_render_options"
    _fields_ = [
        ("format", c_int),
        ("human_sizes", c_bool),
        ("raw", c_bool),
        ("full_text", c_bool),
        ("color", c_bool),
        ("ascii", c_bool),
        ("width", c_uint),
        ("rest", c_char_p),
    ]


#: The callback `write` of a Sink.
Writer = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_size_t)


class Sink(ctypes.Structure):
    c_name = "hdx_sink"
    _fields_ = [("write", Writer), ("context", c_void_p)]


class ReportOptions(ctypes.Structure):
    c_name = "hdx_report_options"
    _fields_ = [
        ("format", c_int),
        ("quick", c_bool),
        ("redact", c_bool),
        ("growth", c_void_p),
        ("dumps", c_size_t),
    ]


class PictureOptions(ctypes.Structure):
    c_name = "hdx_picture_options"
    _fields_ = [("format", c_int), ("title", c_char_p), ("subject", c_void_p), ("inbound", c_bool)]


class Schema(ctypes.Structure):
    c_name = "struct ArrowSchema"


Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(Schema))),
    ("dictionary", POINTER(Schema)),
    ("release", CFUNCTYPE(None, POINTER(Schema))),
    ("private_data", c_void_p),
]


class Array(ctypes.Structure):
    c_name = "struct ArrowArray"


Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(Array))),
    ("dictionary", POINTER(Array)),
    ("release", CFUNCTYPE(None, POINTER(Array))),
    ("private_data", c_void_p),
]


class Stream(ctypes.Structure):
    c_name = "struct ArrowArrayStream"


Stream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(Stream))),
    ("release", CFUNCTYPE(None, POINTER(Stream))),
    ("private_data", c_void_p),
]

# ---- functions ----

_HANDLE = POINTER(c_void_p)  # receives an object of the library

#: Result and parameters by name.
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "hdx_version": (c_char_p, []),
    "hdx_code_name": (c_char_p, [c_int]),
    "hdx_answers": (POINTER(POINTER(Answer)), [POINTER(c_size_t)]),
    "hdx_tables": (POINTER(POINTER(Answer)), [POINTER(c_size_t)]),
    "hdx_answer_common": (POINTER(Parameter), [POINTER(c_size_t)]),
    "hdx_answer_form": (POINTER(Form), [POINTER(Answer), POINTER(Argument), c_size_t]),
    "hdx_answer_check": (c_int, [POINTER(Answer), POINTER(Argument), c_size_t, c_char_p, POINTER(Error)]),
    "hdx_session_open": (c_int, [POINTER(Options), _HANDLE, POINTER(Error)]),
    "hdx_session_add": (c_int, [c_void_p, c_char_p, POINTER(Error)]),
    "hdx_session_close": (None, [c_void_p]),
    "hdx_session_cancel": (None, [c_void_p]),
    "hdx_session_limit": (None, [c_void_p, c_uint64]),
    "hdx_session_graph": (c_int, [c_void_p, c_size_t, _HANDLE, POINTER(Error)]),
    "hdx_answer_arrow": (
        c_int,
        [c_void_p, c_char_p, POINTER(Argument), c_size_t, POINTER(Stream), POINTER(Error)],
    ),
    "hdx_answer_run": (c_int, [c_void_p, c_char_p, POINTER(Argument), c_size_t, _HANDLE, POINTER(Error)]),
    "hdx_column_type_name": (c_char_p, [c_int]),
    "hdx_column_unit_name": (c_char_p, [c_int]),
    "hdx_rows_columns": (POINTER(Column), [c_void_p, POINTER(c_uint)]),
    "hdx_rows_cut_off": (c_bool, [c_void_p, POINTER(RowsCut)]),
    "hdx_rows_empty_reason": (c_char_p, [c_void_p]),
    "hdx_rows_close": (None, [c_void_p]),
    "hdx_render": (c_int, [c_void_p, POINTER(RenderOptions), POINTER(Sink), POINTER(Error)]),
    "hdx_output_check": (c_int, [c_char_p, POINTER(c_char_p), c_size_t, POINTER(Error)]),
    "hdx_report_write": (c_int, [c_void_p, POINTER(ReportOptions), POINTER(Sink), POINTER(Error)]),
    "hdx_picture_write": (c_int, [c_void_p, POINTER(PictureOptions), POINTER(Sink), POINTER(Error)]),
    "hdx_sql_open": (c_int, [c_void_p, POINTER(SqlOptions), _HANDLE, POINTER(Error)]),
    "hdx_sql_close": (None, [c_void_p]),
    "hdx_sql_arrow": (c_int, [c_void_p, c_char_p, c_uint64, POINTER(Stream), POINTER(Error)]),
    "hdx_oql_translate": (c_int, [c_void_p, c_char_p, _HANDLE, POINTER(Error)]),
    "hdx_text_free": (None, [c_void_p]),
    "hdx_graph_objects": (c_uint64, [c_void_p]),
    "hdx_graph_address": (c_uint64, [c_void_p, c_uint64]),
    "hdx_fleet_write": (c_int, [c_void_p, POINTER(Fleet), POINTER(Error)]),
}


def bind(lib: ctypes.CDLL) -> None:
    """Declares the types of the functions. A function that an older library lacks fails when it is called."""
    for name, (result, parameters) in FUNCTIONS.items():
        function = getattr(lib, name, None)
        if function is not None:
            function.restype, function.argtypes = result, parameters
