// Arithmetic on the lanes of a block of replicates: the same for all of them, at once.
//
// Each function stands here as a loop, which says what it does and runs anywhere. Compilers unroll such short loops into
// single steps before they see that a few wide ones would do, so for SSE2, which every x86-64 has, those are spelt out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "resample.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace calque {

template <class Value>
using Lanes = std::array<Value, lanes>;

// The weights of a block of replicates, document by document: as small as they can be, so that they stay near.
template <class Weight>
std::vector<Lanes<Weight>> block_of(const Weights& weights, std::size_t begin, std::size_t width) {
    std::vector<Lanes<Weight>> block(weights.documents);
    for (std::size_t document = 0; document < weights.documents; ++document) {
        const std::int32_t* given = weights.of(static_cast<std::int32_t>(document)) + begin;
        for (std::size_t lane = 0; lane < width; ++lane) block[document][lane] = static_cast<Weight>(given[lane]);
    }
    return block;
}

template <class Count>
void add_to(Lanes<Count>& sums, const Lanes<Count>& added) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += added[lane];
}

template <class Count>
void take_from(Lanes<Count>& sums, const Lanes<Count>& taken) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] -= taken[lane];
}

template <class Count, class Weight>
Lanes<Count> widened(const Lanes<Weight>& weights) {
    Lanes<Count> wide;
    for (std::size_t lane = 0; lane < lanes; ++lane) wide[lane] = weights[lane];
    return wide;
}

// One bit for each lane in which the first is more than the second.
template <class Count>
unsigned where_more(const Lanes<Count>& first, const Lanes<Count>& second) {
    unsigned mask = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) mask |= static_cast<unsigned>(first[lane] > second[lane]) << lane;
    return mask;
}

// How many there are, with the 2**-52 by which pycocotools keeps from dividing by 0.
template <class Count>
Lanes<double> not_zero(const Lanes<Count>& counts) {
    Lanes<double> all;
    for (std::size_t lane = 0; lane < lanes; ++lane)
        all[lane] = static_cast<double>(counts[lane]) + std::numeric_limits<double>::epsilon();
    return all;
}

// Raise the highest precision so far to hits / all, where that is higher.
template <class Count>
void raise_to(Lanes<double>& highest, const Lanes<Count>& hits, const Lanes<double>& all) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double precision = static_cast<double>(hits[lane]) / all[lane];
        highest[lane] = precision > highest[lane] ? precision : highest[lane];
    }
}

#if defined(__SSE2__)

inline __m128i four(const Lanes<std::int32_t>& values, std::size_t lane) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(values.data() + lane));
}

inline void set_four(Lanes<std::int32_t>& values, std::size_t lane, __m128i four) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(values.data() + lane), four);
}

template <>
inline void add_to(Lanes<std::int32_t>& sums, const Lanes<std::int32_t>& added) {
    for (std::size_t lane = 0; lane < lanes; lane += 4)
        set_four(sums, lane, _mm_add_epi32(four(sums, lane), four(added, lane)));
}

template <>
inline void take_from(Lanes<std::int32_t>& sums, const Lanes<std::int32_t>& taken) {
    for (std::size_t lane = 0; lane < lanes; lane += 4)
        set_four(sums, lane, _mm_sub_epi32(four(sums, lane), four(taken, lane)));
}

template <>
inline Lanes<std::int32_t> widened(const Lanes<std::uint8_t>& weights) {
    const __m128i zero = _mm_setzero_si128();
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(weights.data()));
    const __m128i low = _mm_unpacklo_epi8(bytes, zero), high = _mm_unpackhi_epi8(bytes, zero);
    Lanes<std::int32_t> wide;
    set_four(wide, 0, _mm_unpacklo_epi16(low, zero));
    set_four(wide, 4, _mm_unpackhi_epi16(low, zero));
    set_four(wide, 8, _mm_unpacklo_epi16(high, zero));
    set_four(wide, 12, _mm_unpackhi_epi16(high, zero));
    return wide;
}

template <>
inline unsigned where_more(const Lanes<std::int32_t>& first, const Lanes<std::int32_t>& second) {
    const auto more = [&](std::size_t lane) { return _mm_cmpgt_epi32(four(first, lane), four(second, lane)); };
    const __m128i some = _mm_packs_epi32(more(0), more(4)), rest = _mm_packs_epi32(more(8), more(12));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(some, rest)));
}

template <>
inline Lanes<double> not_zero(const Lanes<std::int32_t>& counts) {
    const __m128d little = _mm_set1_pd(std::numeric_limits<double>::epsilon());
    Lanes<double> all;
    for (std::size_t lane = 0; lane < lanes; lane += 4) {
        const __m128i here = four(counts, lane);
        _mm_storeu_pd(all.data() + lane, _mm_add_pd(_mm_cvtepi32_pd(here), little));
        _mm_storeu_pd(all.data() + lane + 2, _mm_add_pd(_mm_cvtepi32_pd(_mm_shuffle_epi32(here, 0xEE)), little));
    }
    return all;
}

template <>
inline void raise_to(Lanes<double>& highest, const Lanes<std::int32_t>& hits, const Lanes<double>& all) {
    for (std::size_t lane = 0; lane < lanes; lane += 4) {
        const __m128i here = four(hits, lane);
        double* at = highest.data() + lane;
        const __m128d low = _mm_div_pd(_mm_cvtepi32_pd(here), _mm_loadu_pd(all.data() + lane));
        const __m128d high = _mm_div_pd(_mm_cvtepi32_pd(_mm_shuffle_epi32(here, 0xEE)), _mm_loadu_pd(all.data() + lane + 2));
        _mm_storeu_pd(at, _mm_max_pd(low, _mm_loadu_pd(at)));
        _mm_storeu_pd(at + 2, _mm_max_pd(high, _mm_loadu_pd(at + 2)));
    }
}

#endif

}  // namespace calque
