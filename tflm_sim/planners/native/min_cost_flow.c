/* MINCOSTFLOW; planners/gpu/min_cost_flow.py draws the network.
 *
 * Vertices: left of tensor i is i, right is count + i, then source and sink. No edge is stored: a left vertex reaches
 * the right ones from reach[i] on, and which edges carry a unit is in the members below. Vertices are relaxed in
 * upstream's order of edges, which decides among equally cheap flows; a tree over the right vertices finds those that a
 * left one brings nearer, so that the many others cost no time.
 *
 * Source: tflite/delegates/gpu/common/memory_management/min_cost_flow_assignment.cc @ LiteRT f67457790
 */
#include "shared_objects.h"
#include "tflm_workspace.h"

#define UNREACHED INT32_MAX
#define NO_TENSOR UINT32_MAX
#define MOST_TENSORS (1u << 26)
#define BLOCK 16u

/* Of some right vertices: the largest distance, and the largest by which a distance is above the tensor's size. */
typedef struct farthest {
  int32_t dist;
  int32_t excess;
} farthest_t;

struct tflm_min_cost_flow {
  uint32_t count;
  uint32_t source;
  uint32_t sink;
  uint32_t leaves; /* of the tree, a power of two; each stands for BLOCK right vertices */
  uint32_t round;
  uint32_t following_count;
  int32_t *size;       /* [count] */
  uint32_t *reach;     /* [count] the first tensor that may take the memory of this one; count: none */
  uint32_t *owner;     /* [count] the tensor whose memory this one takes, NO_TENSOR for none */
  uint32_t *successor; /* [count] the tensor that takes this one's memory, NO_TENSOR for none */
  uint8_t *is_new;     /* [count] whether the tensor gets a new object */
  uint8_t *is_served;  /* [count] whether the tensor has memory */
  int32_t *dist;       /* [sink + 1] */
  uint32_t *previous;  /* [sink + 1] the vertex before each on the way from the source */
  uint32_t *queue;     /* [sink + 1] */
  uint32_t *following; /* [sink + 1] the queue of the next round */
  uint32_t *put;       /* [sink + 1] the last round in which a vertex was put into following */
  farthest_t *tree;    /* [2 * leaves] node n has the children 2 n and 2 n + 1; block b is node leaves + b */
};

typedef tflm_min_cost_flow_t flow_t;

static size_t lay_out(flow_t *flow, void *base, size_t count, size_t leaves) {
  const size_t vertices = 2 * count + 2;
  tflm_workspace_t workspace = {base, 0, 0};
  tflm_carve(&workspace, 1, sizeof(flow_t));
  flow->size = tflm_carve(&workspace, count, sizeof(int32_t));
  flow->reach = tflm_carve(&workspace, count, sizeof(uint32_t));
  flow->owner = tflm_carve(&workspace, count, sizeof(uint32_t));
  flow->successor = tflm_carve(&workspace, count, sizeof(uint32_t));
  flow->is_new = tflm_carve(&workspace, count, sizeof(uint8_t));
  flow->is_served = tflm_carve(&workspace, count, sizeof(uint8_t));
  flow->dist = tflm_carve(&workspace, vertices, sizeof(int32_t));
  flow->previous = tflm_carve(&workspace, vertices, sizeof(uint32_t));
  flow->queue = tflm_carve(&workspace, vertices, sizeof(uint32_t));
  flow->following = tflm_carve(&workspace, vertices, sizeof(uint32_t));
  flow->put = tflm_carve(&workspace, vertices, sizeof(uint32_t));
  flow->tree = tflm_carve(&workspace, 2 * leaves, sizeof(farthest_t));
  return workspace.used;
}

static uint32_t leaves_for(size_t count) {
  uint32_t leaves = 1;
  while (leaves * (size_t)BLOCK < count) leaves *= 2;
  return leaves;
}

size_t tflm_min_cost_flow_workspace_size(size_t count) {
  flow_t flow;
  return count > MOST_TENSORS || count > SIZE_MAX / 128u ? 0 : lay_out(&flow, NULL, count, leaves_for(count));
}

static int ends_later(const tflm_tensor_usage_t *tensors, uint32_t a, uint32_t b) {
  return tensors[a].last_task != tensors[b].last_task ? tensors[a].last_task > tensors[b].last_task : a > b;
}

/* Find from which tensor on each is free for others. */
static void find_reach(flow_t *flow, const tflm_tensor_usage_t *tensors) {
  uint32_t *in_use = flow->queue; /* by descending (last_task, index) */
  uint32_t in_use_count = 0;
  for (uint32_t i = 0; i < flow->count; ++i) {
    while (in_use_count > 0 && tensors[in_use[in_use_count - 1]].last_task < tensors[i].first_task)
      flow->reach[in_use[--in_use_count]] = i;
    uint32_t k = in_use_count++;
    for (; k > 0 && ends_later(tensors, i, in_use[k - 1]); --k) in_use[k] = in_use[k - 1];
    in_use[k] = i;
    flow->reach[i] = flow->count;
  }
}

static int32_t cost_of(const flow_t *flow, uint32_t from, uint32_t to) {
  return flow->size[to] > flow->size[from] ? flow->size[to] - flow->size[from] : 0;
}

/* Set the distance of a vertex, and put it into the queue of the next round. */
static void reach_vertex(flow_t *flow, uint32_t vertex, int32_t dist, uint32_t from) {
  flow->dist[vertex] = dist;
  flow->previous[vertex] = from;
  if (flow->put[vertex] != flow->round) {
    flow->put[vertex] = flow->round;
    flow->following[flow->following_count++] = vertex;
  }
}

/* One past the last right vertex of a block. */
static uint32_t block_end(const flow_t *flow, uint32_t block) {
  const uint32_t end = (block + 1) * BLOCK;
  return end < flow->count ? end : flow->count;
}

static void sum_up(flow_t *flow, uint32_t block) {
  const int32_t *dist = flow->dist + flow->count;
  farthest_t all = {-1, INT32_MIN};
  for (uint32_t i = block * BLOCK; i < block_end(flow, block); ++i) {
    const int32_t excess = dist[i] - flow->size[i];
    if (dist[i] > all.dist) all.dist = dist[i];
    if (dist[i] > 0 && excess > all.excess) all.excess = excess; /* nothing is nearer than 0 */
  }
  flow->tree[flow->leaves + block] = all;
}

static void join_children(flow_t *flow, uint32_t node) {
  const farthest_t *one = &flow->tree[2 * node];
  const farthest_t *other = &flow->tree[2 * node + 1];
  flow->tree[node].dist = one->dist > other->dist ? one->dist : other->dist;
  flow->tree[node].excess = one->excess > other->excess ? one->excess : other->excess;
}

static void relax_source(flow_t *flow) {
  for (uint32_t i = 0; i < flow->count; ++i) {
    if (flow->successor[i] == NO_TENSOR) reach_vertex(flow, i, 0, flow->source);
    if (!flow->is_new[i]) reach_vertex(flow, flow->count + i, flow->size[i], flow->source);
  }
  for (uint32_t block = 0; block < flow->leaves; ++block) sum_up(flow, block);
  for (uint32_t node = flow->leaves - 1; node > 0; --node) join_children(flow, node);
}

/* The edges from a vertex, a left one or the sink, to the right vertices from first on. One costs what the right
 * vertex's tensor is larger than size.
 */
typedef struct bundle {
  uint32_t from;
  uint32_t first;
  int32_t size;
  int32_t dist; /* of the vertex */
} bundle_t;

static void relax_block(flow_t *flow, const bundle_t *edges, uint32_t block) {
  const int32_t *dist = flow->dist + flow->count;
  int is_changed = 0;
  for (uint32_t i = edges->first > block * BLOCK ? edges->first : block * BLOCK; i < block_end(flow, block); ++i) {
    const int64_t nearer = (int64_t)edges->dist + (flow->size[i] > edges->size ? flow->size[i] - edges->size : 0);
    if (nearer >= dist[i] || (edges->from == flow->sink && !flow->is_served[i])) continue;
    reach_vertex(flow, flow->count + i, (int32_t)nearer, edges->from);
    is_changed = 1;
  }
  if (is_changed) sum_up(flow, block);
}

/* Relax edges to the blocks below a node of the tree, width of them from block on. */
static void relax_blocks(flow_t *flow, const bundle_t *edges, uint32_t node, uint32_t block, uint32_t width) {
  const farthest_t *all = &flow->tree[node];
  if (all->dist <= edges->dist || all->excess <= edges->dist - edges->size) return;
  if ((block + width) * BLOCK <= edges->first) return;
  if (width == 1) {
    relax_block(flow, edges, block);
  } else {
    relax_blocks(flow, edges, 2 * node, block, width / 2);
    relax_blocks(flow, edges, 2 * node + 1, block + width / 2, width / 2);
    join_children(flow, node);
  }
}

/* Relax the edges of a vertex. Only distances that are not negative count: upstream compares with an unsigned number.
 */
static void relax(flow_t *flow, uint32_t vertex) {
  if (vertex == flow->source) {
    relax_source(flow);
  } else if (vertex == flow->sink) {
    const bundle_t edges = {vertex, 0, INT32_MAX, flow->dist[vertex]};
    relax_blocks(flow, &edges, 1, 0, flow->leaves);
  } else if (vertex < flow->count) {
    const bundle_t edges = {vertex, flow->reach[vertex], flow->size[vertex], flow->dist[vertex]};
    relax_blocks(flow, &edges, 1, 0, flow->leaves);
  } else {
    const uint32_t tensor = vertex - flow->count;
    const uint32_t owner = flow->owner[tensor];
    if (!flow->is_served[tensor] && flow->dist[vertex] < flow->dist[flow->sink])
      reach_vertex(flow, flow->sink, flow->dist[vertex], vertex);
    if (owner != NO_TENSOR) {
      const int32_t dist = flow->dist[vertex] - cost_of(flow, owner, tensor);
      if (dist >= 0 && dist < flow->dist[owner]) reach_vertex(flow, owner, dist, vertex);
    }
  }
}

/* Find the shortest path from source to sink; return 0 when there is none. */
static int find_path(flow_t *flow) {
  uint32_t queue_count = 1;
  for (uint32_t v = 0; v <= flow->sink; ++v) {
    flow->dist[v] = UNREACHED;
    flow->put[v] = 0;
  }
  flow->dist[flow->source] = 0;
  flow->queue[0] = flow->source;
  for (flow->round = 1; queue_count > 0; ++flow->round) {
    flow->following_count = 0;
    for (uint32_t k = 0; k < queue_count; ++k) relax(flow, flow->queue[k]);
    uint32_t *queue = flow->queue;
    flow->queue = flow->following;
    flow->following = queue;
    queue_count = flow->following_count;
  }
  return flow->dist[flow->sink] != UNREACHED;
}

/* Push a unit along the path that was found, from its end on. */
static void push(flow_t *flow) {
  for (uint32_t vertex = flow->sink; vertex != flow->source;) {
    const uint32_t from = flow->previous[vertex];
    if (vertex == flow->sink) {
      flow->is_served[from - flow->count] = 1;
    } else if (vertex < flow->count) {
      if (from != flow->source) flow->owner[from - flow->count] = NO_TENSOR; /* it gets another before the source */
    } else if (from == flow->source) {
      flow->is_new[vertex - flow->count] = 1;
    } else {
      flow->owner[vertex - flow->count] = from;
      flow->successor[from] = vertex - flow->count;
    }
    vertex = from;
  }
}

int tflm_min_cost_flow_start(const tflm_tensor_usage_t *tensors, size_t count, void *workspace, size_t workspace_size,
                             tflm_min_cost_flow_t **started) {
  const size_t needed = tflm_min_cost_flow_workspace_size(count);
  int64_t sum = 0;
  if (needed == 0 || started == NULL || (count > 0 && tensors == NULL)) return TFLM_PLAN_E_ARGUMENT;
  if (!tflm_workspace_fits(workspace, workspace_size, needed)) return TFLM_PLAN_E_WORKSPACE;
  for (size_t i = 0; i < count; ++i) {
    if (tensors[i].size < 0) return TFLM_PLAN_E_ARGUMENT;
    if (tensors[i].size >= UNREACHED - sum) return TFLM_PLAN_E_OVERFLOW;
    sum += tensors[i].size;
  }
  flow_t *flow = workspace;
  flow->leaves = leaves_for(count);
  lay_out(flow, workspace, count, flow->leaves);
  flow->count = (uint32_t)count;
  flow->source = 2 * flow->count;
  flow->sink = flow->source + 1;
  find_reach(flow, tensors);
  for (uint32_t i = 0; i < flow->count; ++i) {
    flow->size[i] = (int32_t)tensors[i].size;
    flow->owner[i] = flow->successor[i] = NO_TENSOR;
    flow->is_new[i] = flow->is_served[i] = 0;
  }
  *started = flow;
  return TFLM_PLAN_OK;
}

int tflm_min_cost_flow_run(tflm_min_cost_flow_t *flow, uint32_t paths) {
  for (; paths > 0; --paths) {
    if (!find_path(flow)) return 1;
    push(flow);
  }
  return 0;
}

void tflm_min_cost_flow_objects(const tflm_min_cost_flow_t *flow, uint32_t *object_ids) {
  uint32_t object = 0;
  for (uint32_t i = 0; i < flow->count; ++i) object_ids[i] = UINT32_MAX;
  for (uint32_t i = 0; i < flow->count; ++i) {
    if (!flow->is_new[i]) continue;
    for (uint32_t tensor = i; tensor != NO_TENSOR && object_ids[tensor] == UINT32_MAX; tensor = flow->successor[tensor])
      object_ids[tensor] = object;
    ++object;
  }
}
