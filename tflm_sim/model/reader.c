/* The quick reader of .tflite files: follows the recipes of recipes.py over well-formed bytes.
 *
 *   read(source, recipe, identifier, options) -> the values of the root table, or None
 *
 * None stands for everything out of the ordinary: an offset outside of the file, a tensor that there is not, a union
 * member without a name. The reader in Python then reads the file once more and says what is wrong. What is built here
 * is bounded as there: by PARSED_BYTES_PER_FILE_BYTE and MIN_PARSED_BYTES of flatbuf.py.
 *
 * Only the stable ABI of CPython is used. An owned reference is released on every way out; a function that returns NULL
 * has set a Python exception, or `irregular`. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { MAX_FIELDS = 20, BUDGET_FREE = 4096, BUDGET_PER_BYTE = 2 };

/* As Kind of recipes.py. */
enum kind {
  SCALAR,
  LARGER,
  TEXT,
  NUMBERS,
  INDICES,
  RAW,
  VIEW,
  TABLE,
  EACH,
  TENSORS,
  HAS,
  POSITION,
  ADDRESS,
  OUTSIDE,
  OPTIONS
};

typedef struct {
  const uint8_t *data;
  int64_t size;
  int64_t budget;
  int64_t tensor_count; /* of the subgraph that is read */
  int irregular;
  PyObject *source;  /* borrowed: the memoryview */
  PyObject *options; /* borrowed: from a builtin options table's name to its fields */
} reader_t;

typedef struct {
  int64_t position;
  uint16_t fields[MAX_FIELDS]; /* where each is, from position; 0: absent */
} table_t;

static PyObject *read_table(reader_t *r, int64_t position, PyObject *recipe);

static void *irregular(reader_t *r) {
  r->irregular = 1;
  return NULL;
}

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

static int lies_inside(const reader_t *r, int64_t position, int64_t width) {
  return position >= 0 && width <= r->size - position;
}

static uint32_t u32_at(const reader_t *r, int64_t position) {
  const uint8_t *p = r->data + position;
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint16_t u16_at(const reader_t *r, int64_t position) {
  return (uint16_t)(r->data[position] | r->data[position + 1] << 8);
}

static uint64_t u64_at(const reader_t *r, int64_t position) {
  return u32_at(r, position) | (uint64_t)u32_at(r, position + 4) << 32;
}

static int width_of(char code) {
  switch (code) {
    case '?':
    case 'b':
    case 'B': return 1;
    case 'h':
    case 'H': return 2;
    case 'q':
    case 'Q': return 8;
    default: return 4;
  }
}

/* The number of a `struct` code at a position that lies inside. */
static PyObject *number_at(const reader_t *r, int64_t position, char code) {
  switch (code) {
    case '?': return PyBool_FromLong(r->data[position] != 0);
    case 'b': return PyLong_FromLong((int8_t)r->data[position]);
    case 'B': return PyLong_FromLong(r->data[position]);
    case 'h': return PyLong_FromLong((int16_t)u16_at(r, position));
    case 'H': return PyLong_FromLong(u16_at(r, position));
    case 'i': return PyLong_FromLong((int32_t)u32_at(r, position));
    case 'I': return PyLong_FromUnsignedLong(u32_at(r, position));
    case 'q': return PyLong_FromLongLong((int64_t)u64_at(r, position));
    case 'Q': return PyLong_FromUnsignedLongLong(u64_at(r, position));
    case 'f': {
      uint32_t bits = u32_at(r, position);
      float value;
      memcpy(&value, &bits, sizeof value);
      return PyFloat_FromDouble(value);
    }
    default: return PyErr_Format(PyExc_SystemError, "no struct code '%c'", code);
  }
}

/* ---- tables --------------------------------------------------------------------------------------------------- */

static int open_table(reader_t *r, int64_t position, table_t *table) {
  int64_t vtable, count, i;

  if (!lies_inside(r, position, 4)) return irregular(r) != NULL;
  vtable = position - (int32_t)u32_at(r, position);
  if (!lies_inside(r, vtable, 2)) return irregular(r) != NULL;
  count = (u16_at(r, vtable) - 3) / 2;
  count = count < 0 ? 0 : count > MAX_FIELDS ? MAX_FIELDS : count;
  if (!lies_inside(r, vtable, 4 + 2 * count)) return irregular(r) != NULL;
  table->position = position;
  memset(table->fields, 0, sizeof table->fields);
  for (i = 0; i < count; i++) table->fields[i] = u16_at(r, vtable + 4 + 2 * i);
  return 1;
}

/* Where the offset in a field points to; 0 for an absent field (no offset leads there), -1 outside of the file. */
static int64_t target_of(const reader_t *r, const table_t *table, long slot) {
  int64_t position;

  if (!table->fields[slot]) return 0;
  position = table->position + table->fields[slot];
  return lies_inside(r, position, 4) ? position + u32_at(r, position) : -1;
}

/* Find the elements of a vector; false when it is not inside of the file. `charged`: they become objects. */
static int open_vector(reader_t *r, int64_t position, int width, int charged, int64_t *start, int64_t *count) {
  if (!lies_inside(r, position, 4)) return irregular(r) != NULL;
  *start = position + 4;
  *count = u32_at(r, position);
  if (*count * width > r->size - *start) return irregular(r) != NULL;
  if (charged && (r->budget -= *count * width) < 0) return irregular(r) != NULL;
  return 1;
}

/* ---- fields --------------------------------------------------------------------------------------------------- */

static PyObject *item(PyObject *tuple, Py_ssize_t index) { return PyTuple_GetItem(tuple, index); }

static char code_of(PyObject *text) { return (char)PyUnicode_ReadChar(text, 0); }

static PyObject *scalar(reader_t *r, const table_t *table, long slot, char code, PyObject *absent) {
  int64_t position = table->position + table->fields[slot];

  if (!table->fields[slot]) return Py_NewRef(absent);
  return lies_inside(r, position, width_of(code)) ? number_at(r, position, code) : irregular(r);
}

static PyObject *larger(reader_t *r, const table_t *table, long slot, PyObject *argument) {
  PyObject *zero = PyLong_FromLong(0), *one, *other = NULL;
  int order;

  if (!zero) return NULL;
  one = scalar(r, table, PyLong_AsLong(item(argument, 0)), code_of(item(argument, 1)), zero);
  if (one) other = scalar(r, table, slot, code_of(item(argument, 2)), zero);
  Py_DECREF(zero);
  if (!other) {
    Py_XDECREF(one);
    return NULL;
  }
  order = PyObject_RichCompareBool(other, one, Py_GT);
  Py_DECREF(order > 0 ? one : other);
  return order > 0 ? other : one;
}

static PyObject *slice(reader_t *r, int64_t start, int64_t end) { return PySequence_GetSlice(r->source, start, end); }

/* A vector as text, numbers, indices, bytes to be read later, or a view of its bytes. */
static PyObject *vector(reader_t *r, int64_t position, enum kind kind, PyObject *argument) {
  char code = kind == NUMBERS ? code_of(argument) : 'i';
  int width = kind == RAW ? (int)PyLong_AsLong(argument) : kind == NUMBERS || kind == INDICES ? width_of(code) : 1;
  int64_t start, count, i, lowest = kind == INDICES ? PyLong_AsLongLong(argument) : 0;
  PyObject *numbers;

  if (!open_vector(r, position, width, kind != VIEW, &start, &count)) return NULL;
  if (kind == TEXT) return PyUnicode_DecodeUTF8((const char *)r->data + start, count, "replace");
  if (kind == RAW && !count) return PyTuple_New(0);
  if (kind == RAW) return PyBytes_FromStringAndSize((const char *)r->data + start, count * width);
  if (kind == VIEW) return slice(r, start, start + count);
  if (!(numbers = PyTuple_New(count))) return NULL;
  for (i = 0; i < count; i++) {
    PyObject *number = number_at(r, start + i * width, code);
    int32_t index = kind == INDICES ? (int32_t)u32_at(r, start + i * width) : 0;

    if (kind == INDICES && (index < lowest || index >= r->tensor_count)) {
      Py_XDECREF(number);
      number = irregular(r);
    }
    if (!number || PyTuple_SetItem(numbers, i, number)) {
      Py_DECREF(numbers);
      return NULL;
    }
  }
  return numbers;
}

static PyObject *tables(reader_t *r, int64_t position, PyObject *recipe) {
  int64_t start, count, i;
  PyObject *built;

  if (!open_vector(r, position, 4, 1, &start, &count) || !(built = PyTuple_New(count))) return NULL;
  for (i = 0; i < count; i++) {
    int64_t place = start + 4 * i;
    PyObject *one = read_table(r, place + u32_at(r, place), recipe);

    if (!one || PyTuple_SetItem(built, i, one)) {
      Py_DECREF(built);
      return NULL;
    }
  }
  return built;
}

static PyObject *absent(enum kind kind, PyObject *argument) {
  switch (kind) {
    case TEXT: return Py_NewRef(argument);
    case RAW:
    case EACH:
    case TENSORS: return PyTuple_New(0);
    case ADDRESS: return PyLong_FromLong(0);
    default: return Py_NewRef(Py_None);
  }
}

/* A field that holds an offset. */
static PyObject *referred(reader_t *r, const table_t *table, long slot, enum kind kind, PyObject *argument) {
  int64_t position = target_of(r, table, slot);
  PyObject *found;

  if (!table->fields[slot]) {
    if (kind == TENSORS) r->tensor_count = 0;
    return absent(kind, argument);
  }
  if (position < 0) return irregular(r);
  switch (kind) {
    case ADDRESS: return PyLong_FromLongLong(position + 4);
    case TABLE: return read_table(r, position, argument);
    case EACH: return tables(r, position, argument);
    case TENSORS:
      found = tables(r, position, argument);
      r->tensor_count = found ? PyTuple_Size(found) : 0;
      return found;
    default: return vector(r, position, kind, argument);
  }
}

static PyObject *field_value(reader_t *r, const table_t *table, PyObject *field) {
  long slot = PyLong_AsLong(item(field, 1));
  enum kind kind = (enum kind)PyLong_AsLong(item(field, 2));
  PyObject *argument = item(field, 3);
  int64_t position;

  if (slot < 0 || slot >= MAX_FIELDS) return PyErr_Format(PyExc_SystemError, "no slot %ld", slot);
  switch (kind) {
    case SCALAR: return scalar(r, table, slot, code_of(item(argument, 0)), item(argument, 1));
    case LARGER: return larger(r, table, slot, argument);
    case HAS: return PyBool_FromLong(table->fields[slot] != 0);
    case POSITION: return PyLong_FromLongLong(table->position);
    case OUTSIDE:
      position = table->position + table->fields[slot];
      if (table->fields[slot] && (!lies_inside(r, position, 8) || u64_at(r, position) > 1)) return irregular(r);
      return Py_NewRef(Py_None);
    default: return referred(r, table, slot, kind, argument);
  }
}

/* The name of the builtin options table and its fields, as a tuple of two; `unions`: (type slot, slot, names) each. */
static PyObject *builtin_options(reader_t *r, const table_t *table, PyObject *unions) {
  PyObject *name = NULL, *fields = NULL, *found = NULL;
  table_t options;
  Py_ssize_t i, number = 0;
  int64_t position = 0;

  for (i = 0; i < PyTuple_Size(unions) && !number; i++) {
    PyObject *one = item(unions, i), *names = item(one, 2);
    uint16_t offset = table->fields[PyLong_AsLong(item(one, 0))];

    if (offset && !lies_inside(r, table->position + offset, 1)) return irregular(r);
    number = offset ? r->data[table->position + offset] : 0;
    if (number >= PyTuple_Size(names)) return irregular(r);
    name = item(names, number);
    position = number ? target_of(r, table, PyLong_AsLong(item(one, 1))) : 0;
  }
  if (!(found = PyDict_New()) || !(fields = PyObject_CallFunctionObjArgs(r->options, name, NULL))) goto failed;
  if (number && PyTuple_Size(fields) > 0 && position) {
    if (!open_table(r, position, &options)) goto failed;
    for (i = 0; i < PyTuple_Size(fields); i++) {
      PyObject *field = item(fields, i), *value = field_value(r, &options, field);

      if (!value || PyDict_SetItem(found, item(field, 0), value)) {
        Py_XDECREF(value);
        goto failed;
      }
      Py_DECREF(value);
    }
  }
  Py_DECREF(fields);
  return Py_BuildValue("ON", name, found);
failed:
  Py_XDECREF(fields);
  Py_XDECREF(found);
  return NULL;
}

/* ---- recipes -------------------------------------------------------------------------------------------------- */

/* The values of a table's fields, in order. */
static PyObject *values_of(reader_t *r, const table_t *table, PyObject *fields) {
  Py_ssize_t count = PyTuple_Size(fields), i, filled = 0, extra = 0;
  PyObject *values, *value;

  for (i = 0; i < count; i++) extra += PyLong_AsLong(item(item(fields, i), 2)) == OPTIONS;
  if (!(values = PyTuple_New(count + extra))) return NULL;
  for (i = 0; i < count; i++) {
    PyObject *field = item(fields, i);

    if (PyLong_AsLong(item(field, 2)) == OPTIONS) {
      PyObject *pair = builtin_options(r, table, item(field, 3));

      if (!pair) goto failed;
      PyTuple_SetItem(values, filled++, Py_NewRef(item(pair, 0)));
      PyTuple_SetItem(values, filled++, Py_NewRef(item(pair, 1)));
      Py_DECREF(pair);
      continue;
    }
    if (!(value = field_value(r, table, field))) goto failed;
    PyTuple_SetItem(values, filled++, value);
  }
  return values;
failed:
  Py_DECREF(values);
  return NULL;
}

/* An object of a class whose attributes lie in slots, filled without a call of its __init__. */
static PyObject *filled(PyObject *make, PyObject *slots, PyObject *values) {
  PyObject *made = PyType_GenericAlloc((PyTypeObject *)make, 0);
  Py_ssize_t i;

  for (i = 0; made && i < PyTuple_Size(slots); i++) {
    descrsetfunc set = (descrsetfunc)PyType_GetSlot(Py_TYPE(item(slots, i)), Py_tp_descr_set);

    if (set(item(slots, i), made, item(values, i))) Py_CLEAR(made);
  }
  return made;
}

/* What a recipe makes of the table at `position`. */
static PyObject *read_table(reader_t *r, int64_t position, PyObject *recipe) {
  PyObject *make = item(recipe, 1), *slots = item(recipe, 3), *values = NULL, *made;
  table_t table;

  if (!open_table(r, position, &table) || !(values = values_of(r, &table, item(recipe, 2))) || make == Py_None)
    return r->irregular || PyErr_Occurred() ? NULL : values;
  made = PyTuple_Size(slots) ? filled(make, slots, values) : PyObject_CallObject(make, values);
  Py_DECREF(values);
  return made;
}

static PyObject *read_root(reader_t *r, PyObject *recipe, const char *identifier) {
  if (!lies_inside(r, 0, 8) || memcmp(r->data + 4, identifier, 4)) return irregular(r);
  return read_table(r, u32_at(r, 0), recipe);
}

static PyObject *reader_read(PyObject *module, PyObject *arguments) {
  PyObject *source, *recipe, *options, *found;
  const char *identifier;
  Py_ssize_t length;
  Py_buffer bytes;
  reader_t r = {0};

  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO!y#O", &source, &PyTuple_Type, &recipe, &identifier, &length, &options))
    return NULL;
  if (length != 4) return PyErr_Format(PyExc_ValueError, "an identifier has 4 bytes");
  if (PyObject_GetBuffer(source, &bytes, PyBUF_SIMPLE)) return NULL;
  r.data = bytes.buf;
  r.size = bytes.len;
  r.budget = r.size * BUDGET_PER_BYTE + BUDGET_FREE;
  r.source = source;
  r.options = options;
  found = read_root(&r, recipe, identifier);
  PyBuffer_Release(&bytes);
  if (!found && r.irregular && !PyErr_Occurred()) Py_RETURN_NONE;
  return found;
}

static PyMethodDef methods[] = {
    {"read", reader_read, METH_VARARGS,
     "read(source, recipe, identifier, options) -> values of the root table; None where Python is to read"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_reader", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__reader(void);
PyMODINIT_FUNC PyInit__reader(void) { return PyModuleDef_Init(&definition); }
