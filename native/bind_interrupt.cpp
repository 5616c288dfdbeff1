// Signals while kernels run: Ctrl-C raises the exception of its handler, and one thread can cancel the kernels of all.
#include <nanobind/nanobind.h>

#include "interrupt.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;
namespace nb = nanobind;

std::atomic<PyObject*> cancel_reason{nullptr};  // the exception that cancelled threads raise; never released

// Python runs handlers in its main thread only. Others need not wait for its lock, which may never be theirs again at the end.
bool is_main_thread() {
    thread_local const bool is = [] {
        const nb::module_ threading = nb::module_::import_("threading");
        return threading.attr("main_thread")().attr("ident").equal(threading.attr("get_ident")());
    }();
    return is;
}

void check_signals() {
    thread_local bool other_thread = false;
    if (other_thread) return;
    const nb::gil_scoped_acquire acquired;
    other_thread = !is_main_thread();
    if (!other_thread && PyErr_CheckSignals() != 0) throw nb::python_error();
}

void bound_cancel_all(nb::object raised) {
    const bool cancelled = !raised.is_none();
    if (cancelled) cancel_reason = raised.release().ptr();  // first: cancelled threads read it
    cancel_all(cancelled);
}

}  // namespace

void bind_interrupt(nb::module_& m) {
    set_interrupt_check(&check_signals);
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Interrupted&) {
            PyObject* const why = cancel_reason;
            PyErr_SetNone(why != nullptr ? why : PyExc_KeyboardInterrupt);
        }
    });
    m.def("cancel_all", &bound_cancel_all, "raised"_a.none(), "Cancel the kernels of every thread by raising this; None allows them again.");
}
