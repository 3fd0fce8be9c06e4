/* Exact planner: the smallest arena for buffers whose lifetimes are known, or the proof that a capacity is too small.
 *
 * THE ORDER OF WORK, and the file of each step
 *
 *  1. bytes become units, moments become sections (exact_build.c): a section is a moment at which as many buffers are
 *     alive as can be; every pair that ever meets, meets in one.
 *  2. all guises of a problem become one (exact_canonical.c): sorted, time in the direction that sorts first.
 *  3. lower bounds: the load of a section (exact_build.c); where alignments differ, its lowest stack (exact_stack.c).
 *  4. first plans: the caller's, and first fit in five orders (exact_orders.c). At the bound the work ends.
 *  5. more than 2,048 buffers: windows of the best plan are planned anew, each as a small problem (exact_improve.c).
 *  6. else turns are taken (exact.c) until plan and bound meet, or a limit comes:
 *       a packing, where every section is exactly full (exact_packing.c, exact_packing_groups.c, pq_tree.c);
 *       a plan in two levels, each a problem of its own (exact_split.c);
 *       a search of the whole (exact_search.c) by a strategy (exact_strategy.c) in one of four forms (exact_ways.c).
 *
 * WHAT A BOUND PROVES. The load of a section: its buffers lie one above the other. The stack: so they do, and whatever
 * their order, their alignments leave gaps. A packing that fails: no plan fills every section, so the peak is above the
 * load. A search that fails at a capacity: no plan has that peak; the next one that sizes and alignments can add up to
 * is the bound. A merged form or two levels that fail prove nothing. With a plan at the bound the work is done.
 *
 * WHAT A SEARCH DECIDES. It asks whether a plan fits a capacity. Each buffer has `lowest`, an offset below which it
 * cannot be. A strategy picks a section, and in it the buffer that can lie lowest; first all plans where it lies just
 * there, then all where it is higher. What follows from that raises `lowest` of others:
 *
 *   deduction     what it proves                                                                  file
 *   carried       what nothing carries at `lowest` rises to the least top of a neighbour          exact_search_deduce.h
 *   section       what lies at t or above: t + sizes <= capacity                                  the same
 *   not first     who as the lowest of a section would push it over the capacity has one below    the same
 *   stack         what is left of a section has an order that fits, with its alignments' gaps     the same
 *   twins         of buffers that differ in nothing, the first is the lower one                   exact_build.c
 *   harmless      who can be placed without raising anybody, is placed; there is no second case   exact_search.c
 *   parts         where no unplaced buffer crosses, what is left falls apart in time              exact_search.c
 *   failures      a part that had no plan has none at the same or a lower capacity                exact_search_choose.h
 *
 * ONE INSTANCE, capacity 10 (a size 3, b 3, c 1, d 5, e 5; alignment 1):
 *
 *   time      0  1  2  3      sections: 0 {d, e}, load 10; 1 {a, d}, load 8; 2 {a, b, c}, load 7.
 *   a            =======      (Moment 2 is {a, b}, a part of section 2.) The largest load is the bound: 10.
 *   b               ====
 *   c                  =      First fit, largest first, e before d: e 0, d 5, a on d at 10, which ends at 13 (TFLM's
 *   d         =====           own plan); with d first it finds 10. Suppose that it did not, and a search begins:
 *   e         ==
 *
 *   d at 0    Section 0 has nothing to lose. e and a rise to 5, on d: section 0 needs 5 + 5 = 10, section 1 5 + 3 = 8.
 *             No buffer that is left crosses from section 0 to 2: parts {e} and {a, b, c}.
 *   e at 5    It raises nobody: there is no second case. The part {e} is done.
 *   b at 0    c rises to 3. a stays at 5.
 *   c at 3    It ends at 4, below a: harmless.
 *   a at 5    It ends at 8. The peak is 10, the bound: proved.
 *
 *   10 +-----+                    Had it failed, the second case would be "d higher": d rises to 3, the top of a, the
 *      |  e  |                    lowest that can carry it. Now d as the lowest of section 0 would need 3 + 10 > 10:
 *    8 |     +-----------------+  not first, so e is below d, and d at 5. Then a is below d too, as 5 + 8 > 10: this is
 *      |     |        a        |  the picture upside down. A proof is long where sizes leave room, because much is
 *    5 +-----+-----+-----+-----+  tried there that differs in little; the failures that are remembered, the twins and
 *      |     d     |     |  c  |  the parts are against that.
 *    3 |           +-----+-----+
 *      |           |     b     |  Stack: sizes 5 and 20 aligned to 16 and 30 aligned to 1 have load 55. Of their six
 *    0 +-----------+-----------+  orders 5, 20, 30 from below has the lowest top: offsets 0, 16, 36, top 66. No plan
 *         0     1     2     3     is lower.
 *
 * THE SAME INSTANCE IN THE OTHER FILES
 *
 *   canonical   In sections: a [1, 3), b [2, 3), c [2, 3), d [0, 2), e [0, 1). Turned around c is [0, 1) with 1 byte
 * and comes before e, [0, 1) with 5: the search sees time from right to left. Above, it is told as given. orders First
 * fit "ZW": size, then width in sections: d 5 in two, e 5 in one, a 3 in two, b, c. ways        b and c have one
 * lifetime in sections: in two of the four forms they are one block of 4. The plan above has a place for it, at 0; a
 * plan with a between b and c would be lost. strategy    The first search asks for 10 in the form that is turned and
 * merged, by the tightest section and the orders "OWTA", and may take 5 * 3 / 2 + 256 = 263 nodes. It needs four. split
 * At moment 1 e hands over to a, at 2 d to b; c begins alone: families {a, e}, {b, d}, {c}. Dealt to two levels of 5:
 * {b, d, c} has loads 5, 5, 4 and {a, e} 5, 3, 3. Each level is planned by itself. packing     Not here: sections 1
 * and 2 are not full. With a of 5 and c of 2 all three sections have load 10, and only the order is open. From section
 * 0 to 1 a takes the room of e, from 1 to 2 b and c together that of d: as groups {e}, {a} and {d}, {b, c}. The tree
 * (pq_tree.c) keeps b beside c: (d | e), (d | a),
 *               ((b c) | a), which is a plan whichever of a and {b, c} is below.
 *   improve     Not for five. In 2,048 more, TFLM's plan (e 0, d 5, a 10, peak 13) would lose its peak so: a reaches
 * it, a window frees a and with it d and e, b and c stay at their offsets, and a search is asked for 12. stack Not
 * here: all alignments are 1. See the picture.
 *
 * Thread-safe: no globals; all state hangs on the call. Offsets and sizes are bytes, times are inclusive. Status codes
 * are those of tflm_plan.h.
 */
#ifndef TFLM_EXACT_H_
#define TFLM_EXACT_H_

#include "exact_types.h"
#include "tflm_plan.h"

/* Fill result, and offsets[count] with the best plan found (untouched when the fixed buffers collide).
 * TFLM_PLAN_E_ARGUMENT for a size, alignment, lifetime, fixed offset or count out of range; TFLM_PLAN_E_OVERFLOW when
 * all sizes with their padding exceed TFLM_EXACT_MAX_BYTES; TFLM_PLAN_E_MEMORY.
 */
int tflm_exact_solve(const tflm_exact_buffer_t *buffers, size_t count, const tflm_exact_options_t *options,
                     tflm_exact_result_t *result, int64_t *offsets);

#endif
