/* Functions in C that take 100 ns to 10 us, depending on the length of their text. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* unrelated */

/* Replace the characters that have a meaning in HTML. */
static PyObject *
escape(PyObject *self, PyObject *text)
{
    Py_ssize_t size, more = 0;
    const char *in = PyUnicode_AsUTF8AndSize(text, &size);
    if (in == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < size; i++) {
        switch (in[i]) {
        case '"':
        case '\'':
        case '&':
            more += 4;
            break;
        case '<':
        case '>':
            more += 3;
            break;
        }
    }
    PyObject *result = PyUnicode_New(size + more, 127);
    if (result == NULL)
        return NULL;
    char *out = (char *)PyUnicode_1BYTE_DATA(result);
    for (Py_ssize_t i = 0; i < size; i++) {
        const char *name = NULL;
        switch (in[i]) {
        case '"':
            name = "&#34;";
            break;
        case '\'':
            name = "&#39;";
            break;
        case '&':
            name = "&amp;";
            break;
        case '<':
            name = "&lt;";
            break;
        case '>':
            name = "&gt;";
            break;
        }
        if (name == NULL) {
            *out++ = in[i];
        } else {
            size_t length = strlen(name);
            memcpy(out, name, length);
            out += length;
        }
    }
    return result;
}

static PyMethodDef methods[] = {
    {"escape", escape, METH_O, "Escape a text for HTML."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "extension", "Functions in C.", -1, methods,
};

PyMODINIT_FUNC
PyInit_extension(void)
{
    return PyModule_Create(&module);
}
