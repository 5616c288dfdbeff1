// The extension module.
#include <nanobind/nanobind.h>

void bind_json(nanobind::module_&);
void bind_kernels(nanobind::module_&);
void bind_interrupt(nanobind::module_&);
void bind_records(nanobind::module_&);

NB_MODULE(_native, m) {
    // A command ends without destroying its objects (gc.freeze in calque.__main__): these are not leaks.
    nanobind::set_leak_warnings(false);
    bind_json(m);
    bind_kernels(m);
    bind_interrupt(m);
    bind_records(m);
}
