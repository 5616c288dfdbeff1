// The extension module: one function for each family of kernels.
#include <nanobind/nanobind.h>

#include "memory.hpp"

void bind_boxes(nanobind::module_&);
void bind_ceilings(nanobind::module_&);
void bind_json(nanobind::module_&);
void bind_masks(nanobind::module_&);
void bind_patience(nanobind::module_&);
void bind_orders(nanobind::module_&);
void bind_polygons(nanobind::module_&);
void bind_records(nanobind::module_&);
void bind_resample(nanobind::module_&);
void bind_shapes(nanobind::module_&);
void bind_sums(nanobind::module_&);
void bind_tables(nanobind::module_&);
void bind_words(nanobind::module_&);

NB_MODULE(_native, m) {
    // A command leaves what lives at its end to the system (gc.freeze in calque.__main__), a scan that nobody asked for
    // included. That is no leak, and nothing to tell people about.
    nanobind::set_leak_warnings(false);
    bind_boxes(m);
    bind_ceilings(m);
    bind_json(m);
    bind_masks(m);
    bind_patience(m);
    bind_orders(m);
    bind_polygons(m);
    bind_records(m);
    bind_resample(m);
    bind_shapes(m);
    bind_sums(m);
    bind_tables(m);
    bind_words(m);
    m.def("keep_freed_memory", &calque::keep_freed_memory);
}
