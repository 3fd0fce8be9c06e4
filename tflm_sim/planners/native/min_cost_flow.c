/* MINCOSTFLOW; planners/gpu/min_cost_flow.py draws the network.
 *
 * Vertices: left of tensor i is i, right is count + i, then source and sink. Edge e goes back at e ^ 1. The edges of a
 * vertex are listed in the order in which upstream adds them, which decides among equally cheap flows.
 *
 * Source: tflite/delegates/gpu/common/memory_management/min_cost_flow_assignment.cc @ LiteRT f67457790
 */
#include "shared_objects.h"
#include "tflm_workspace.h"

#define UNREACHED INT32_MAX
#define NO_TENSOR UINT32_MAX
#define MOST_TENSORS 16384u /* edges are numbered in 32 bits */

typedef struct edge {
  uint32_t target;
  int32_t capacity;
  int32_t cost;
} edge_t;

typedef struct network {
  uint32_t count;
  uint32_t source;
  uint32_t sink;
  uint32_t edge_count;
  edge_t *edges;
  uint32_t *edges_from; /* [sink + 2] vertex v's edges are listed[edges_from[v]] .. [edges_from[v + 1] - 1] */
  uint32_t *listed;
  int32_t *dist;
  uint32_t *previous; /* [sink + 1] the last edge to each vertex on the way from the source */
  uint32_t *queue;
  uint32_t *following;
  uint32_t *round;  /* [sink + 1] the last round in which a vertex was put into following */
  uint32_t *in_use; /* [count] tensors by descending (last_task, index) while the network is built */
  uint32_t *ended;  /* [count] */
} network_t;

static size_t lay_out(network_t *network, void *base, size_t count) {
  const size_t vertices = 2 * count + 2;
  const size_t edges = 2 * (3 * count + count * count / 2); /* at most count * (count - 1) / 2 reuse edges */
  tflm_workspace_t workspace = {base, 0, 0};
  network->edges = tflm_carve(&workspace, edges, sizeof(edge_t));
  network->listed = tflm_carve(&workspace, edges, sizeof(uint32_t));
  network->edges_from = tflm_carve(&workspace, vertices + 1, sizeof(uint32_t));
  network->dist = tflm_carve(&workspace, vertices, sizeof(int32_t));
  network->previous = tflm_carve(&workspace, vertices, sizeof(uint32_t));
  network->queue = tflm_carve(&workspace, vertices, sizeof(uint32_t));
  network->following = tflm_carve(&workspace, vertices, sizeof(uint32_t));
  network->round = tflm_carve(&workspace, vertices, sizeof(uint32_t));
  network->in_use = tflm_carve(&workspace, count, sizeof(uint32_t));
  network->ended = tflm_carve(&workspace, count, sizeof(uint32_t));
  return workspace.used;
}

size_t tflm_min_cost_flow_workspace_size(size_t count) {
  network_t network;
  return count > MOST_TENSORS || count * count > SIZE_MAX / 64u ? 0 : lay_out(&network, NULL, count);
}

static void add_edge(network_t *network, uint32_t from, uint32_t to, int64_t cost) {
  edge_t *edge = &network->edges[network->edge_count];
  edge[0].target = to;
  edge[0].capacity = 1;
  edge[0].cost = (int32_t)cost;
  edge[1].target = from;
  edge[1].capacity = 0;
  edge[1].cost = -(int32_t)cost;
  network->edge_count += 2;
}

static int ends_later(const tflm_tensor_usage_t *tensors, uint32_t a, uint32_t b) {
  return tensors[a].last_task != tensors[b].last_task ? tensors[a].last_task > tensors[b].last_task : a > b;
}

static void add_edges(network_t *network, const tflm_tensor_usage_t *tensors) {
  uint32_t in_use_count = 0;
  uint32_t ended_count = 0;
  for (uint32_t i = 0; i < network->count; ++i) {
    const uint32_t right = network->count + i;
    while (in_use_count > 0 && tensors[network->in_use[in_use_count - 1]].last_task < tensors[i].first_task)
      network->ended[ended_count++] = network->in_use[--in_use_count];
    uint32_t k = in_use_count++;
    for (; k > 0 && ends_later(tensors, i, network->in_use[k - 1]); --k) network->in_use[k] = network->in_use[k - 1];
    network->in_use[k] = i;
    add_edge(network, network->source, i, 0);
    add_edge(network, right, network->sink, 0);
    add_edge(network, network->source, right, tensors[i].size);
    for (k = 0; k < ended_count; ++k) {
      const int64_t growth = tensors[i].size - tensors[network->ended[k]].size;
      add_edge(network, network->ended[k], right, growth > 0 ? growth : 0);
    }
  }
}

/* List the edges of each vertex, in the order of their numbers. */
static void list_edges(network_t *network) {
  uint32_t *from = network->edges_from;
  for (uint32_t v = 0; v <= network->sink + 1; ++v) from[v] = 0;
  for (uint32_t e = 0; e < network->edge_count; ++e) ++from[network->edges[e ^ 1u].target + 1];
  for (uint32_t v = 0; v <= network->sink; ++v) {
    from[v + 1] += from[v];
    network->queue[v] = from[v];
  }
  for (uint32_t e = 0; e < network->edge_count; ++e)
    network->listed[network->queue[network->edges[e ^ 1u].target]++] = e;
}

/* Relax the edges of vertex and append what got nearer to following; return how many are there now. A negative distance
 * never counts as nearer: upstream compares it as an unsigned number.
 */
static uint32_t relax(network_t *network, uint32_t vertex, uint32_t round, uint32_t following_count) {
  for (uint32_t k = network->edges_from[vertex]; k < network->edges_from[vertex + 1]; ++k) {
    const uint32_t number = network->listed[k];
    const edge_t *edge = &network->edges[number];
    if (edge->capacity <= 0) continue;
    const int64_t dist = (int64_t)network->dist[vertex] + edge->cost;
    if (dist >= 0 && dist < network->dist[edge->target]) {
      network->dist[edge->target] = (int32_t)dist;
      network->previous[edge->target] = number;
      if (network->round[edge->target] != round) {
        network->round[edge->target] = round;
        network->following[following_count++] = edge->target;
      }
    }
  }
  return following_count;
}

/* Find the shortest path from source to sink; return 0 when there is none. */
static int find_path(network_t *network) {
  uint32_t queue_count = 1;
  for (uint32_t v = 0; v <= network->sink; ++v) {
    network->dist[v] = UNREACHED;
    network->round[v] = 0;
  }
  network->dist[network->source] = 0;
  network->queue[0] = network->source;
  for (uint32_t round = 1; queue_count > 0; ++round) {
    uint32_t following_count = 0;
    for (uint32_t k = 0; k < queue_count; ++k)
      following_count = relax(network, network->queue[k], round, following_count);
    uint32_t *queue = network->queue;
    network->queue = network->following;
    network->following = queue;
    queue_count = following_count;
  }
  return network->dist[network->sink] != UNREACHED;
}

static void saturate(network_t *network) {
  while (find_path(network)) {
    for (uint32_t vertex = network->sink; vertex != network->source;) {
      const uint32_t edge = network->previous[vertex];
      --network->edges[edge].capacity;
      ++network->edges[edge ^ 1u].capacity;
      vertex = network->edges[edge ^ 1u].target;
    }
  }
}

/* Return the tensor that gets the memory of tensor next, NO_TENSOR when none does. */
static uint32_t successor(const network_t *network, uint32_t tensor) {
  for (uint32_t k = network->edges_from[tensor]; k < network->edges_from[tensor + 1]; ++k) {
    const edge_t *edge = &network->edges[network->listed[k]];
    if (edge->capacity == 0 && edge->target >= network->count && edge->target < network->source)
      return edge->target - network->count;
  }
  return NO_TENSOR;
}

static void assign(const network_t *network, uint32_t *object_ids) {
  uint32_t object = 0;
  for (uint32_t i = 0; i < network->count; ++i) object_ids[i] = UINT32_MAX;
  for (uint32_t k = network->edges_from[network->source]; k < network->edges_from[network->source + 1]; ++k) {
    const edge_t *edge = &network->edges[network->listed[k]];
    if (edge->capacity == 0 && edge->target >= network->count) {
      for (uint32_t tensor = edge->target - network->count; tensor != NO_TENSOR && object_ids[tensor] == UINT32_MAX;
           tensor = successor(network, tensor)) {
        object_ids[tensor] = object;
      }
      ++object;
    }
  }
}

int tflm_min_cost_flow(const tflm_tensor_usage_t *tensors, size_t count, void *workspace, size_t workspace_size,
                       uint32_t *object_ids) {
  network_t network;
  const size_t needed = tflm_min_cost_flow_workspace_size(count);
  int64_t sum = 0;
  if (needed == 0 || (count > 0 && (tensors == NULL || object_ids == NULL))) return TFLM_PLAN_E_ARGUMENT;
  if (!tflm_workspace_fits(workspace, workspace_size, needed)) return TFLM_PLAN_E_WORKSPACE;
  for (size_t i = 0; i < count; ++i) {
    if (tensors[i].size < 0) return TFLM_PLAN_E_ARGUMENT;
    if (tensors[i].size >= UNREACHED - sum) return TFLM_PLAN_E_OVERFLOW;
    sum += tensors[i].size;
  }
  lay_out(&network, workspace, count);
  network.count = (uint32_t)count;
  network.source = 2 * network.count;
  network.sink = network.source + 1;
  network.edge_count = 0;
  add_edges(&network, tensors);
  list_edges(&network);
  saturate(&network);
  assign(&network, object_ids);
  return TFLM_PLAN_OK;
}
