// Python's signals are heard while kernels run: Ctrl-C raises what its handler raises, and one thread can end the work of all.
#include "bind_arrays.hpp"
#include "patience.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

std::atomic<PyObject*> why_given_up{nullptr};  // what threads raise whose work was ended by another one; held for ever, once it is set

// Python runs handlers in its main thread only. Others need not wait for its lock, which may never be theirs again at the end.
bool is_main_thread() {
    thread_local const bool is = [] {
        const nb::module_ threading = nb::module_::import_("threading");
        return threading.attr("main_thread")().attr("ident").equal(threading.attr("get_ident")());
    }();
    return is;
}

void heed_signals() {
    thread_local bool other_thread = false;
    if (other_thread) return;
    const nb::gil_scoped_acquire acquired;
    other_thread = !is_main_thread();
    if (!other_thread && PyErr_CheckSignals() != 0) throw nb::python_error();
}

void give_up(nb::object raised) {
    const bool over = !raised.is_none();
    if (over) why_given_up = raised.release().ptr();  // first: threads that hear of the end look for its reason
    set_all_over(over);
}

}  // namespace

void bind_patience(nb::module_& m) {
    set_asked(&heed_signals);
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const GivenUp&) {
            PyObject* const why = why_given_up;
            PyErr_SetNone(why != nullptr ? why : PyExc_KeyboardInterrupt);
        }
    });
    m.def("give_up", &give_up, "raised"_a.none(), "End the work of all kernels, in every thread, by raising this; None lets them work again.");
}
