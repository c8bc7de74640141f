"""Reads a folder of event files with TensorBoard's own code and prints what it shows, as JSON.

  read_events.py LOGDIR

Through the data provider and the plugins' back ends, that is, what TensorBoard's pages are made of;
and scalars once more through EventAccumulator, which other programs read event files with. Found by
PYTHONPATH (tests/tensorboard_test.cc), where deps/install --tensorboard has put TensorBoard.
"""

import json
import os
import sys

os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "upb")
sys.dont_write_bytecode = True

from google.protobuf import json_format  # noqa: E402
from google.protobuf import text_format  # noqa: E402
from tensorboard import context  # noqa: E402
from tensorboard.backend.event_processing import data_provider  # noqa: E402
from tensorboard.backend.event_processing import event_accumulator  # noqa: E402
from tensorboard.backend.event_processing import plugin_event_multiplexer  # noqa: E402
from tensorboard.compat.proto import graph_pb2  # noqa: E402
from tensorboard.plugins import base_plugin  # noqa: E402
from tensorboard.plugins.graph import graphs_plugin  # noqa: E402
from tensorboard.plugins.hparams import api_pb2  # noqa: E402
from tensorboard.plugins.hparams import backend_context  # noqa: E402
from tensorboard.plugins.hparams import get_experiment  # noqa: E402
from tensorboard.plugins.hparams import list_session_groups  # noqa: E402

EVERYTHING = 10**9


def main():
    logdir = sys.argv[1]
    # Runs are found as TensorBoard finds them; nothing is thinned out.
    multiplexer = plugin_event_multiplexer.EventMultiplexer(
        tensor_size_guidance={name: 0 for name in ("scalars", "histograms", "images", "text", "hparams")}
    )
    multiplexer.AddRunsFromDirectory(logdir)
    multiplexer.Reload()
    provider = data_provider.MultiplexerDataProvider(multiplexer, logdir)
    request = context.RequestContext()
    result = {"runs": sorted(multiplexer.Runs())}

    scalars = {}
    for run, tags in provider.list_scalars(request, experiment_id="", plugin_name="scalars").items():
        for tag in tags:
            data = provider.read_scalars(
                request,
                experiment_id="",
                plugin_name="scalars",
                downsample=EVERYTHING,
                run_tag_filter=data_provider.provider.RunTagFilter(runs=[run], tags=[tag]),
            )
            scalars.setdefault(run, {})[tag] = [[point.step, point.value] for point in data[run][tag]]
    result["scalars"] = scalars

    def tensors(plugin, show):
        found = {}
        for run, tags in provider.list_tensors(request, experiment_id="", plugin_name=plugin).items():
            for tag in tags:
                data = provider.read_tensors(
                    request,
                    experiment_id="",
                    plugin_name=plugin,
                    downsample=EVERYTHING,
                    run_tag_filter=data_provider.provider.RunTagFilter(runs=[run], tags=[tag]),
                )
                found.setdefault(run, {})[tag] = [[point.step, show(point.numpy)] for point in data[run][tag]]
        return found

    result["histograms"] = tensors("histograms", lambda array: array.tolist())
    result["texts"] = tensors("text", lambda array: array.item().decode())

    images = {}
    for run, tags in provider.list_blob_sequences(request, experiment_id="", plugin_name="images").items():
        for tag in tags:
            data = provider.read_blob_sequences(
                request,
                experiment_id="",
                plugin_name="images",
                downsample=EVERYTHING,
                run_tag_filter=data_provider.provider.RunTagFilter(runs=[run], tags=[tag]),
            )
            for point in data[run][tag]:
                blobs = [provider.read_blob(request, blob_key=value.blob_key) for value in point.values]
                images.setdefault(run, {}).setdefault(tag, []).append(
                    {
                        "step": point.step,
                        "size": [int(blobs[0]), int(blobs[1])],
                        "pngs": [blob.hex() for blob in blobs[2:]],
                    }
                )
    result["images"] = images

    tb_context = base_plugin.TBContext(data_provider=provider, logdir=logdir)
    graphs = {}
    plugin = graphs_plugin.GraphsPlugin(tb_context)
    for run, info in plugin.info_impl(request, "").items():
        if not info.get("run_graph"):
            continue
        body, _ = plugin.graph_impl(request, run, None, is_conceptual=False, experiment="")
        graph = text_format.Parse(body, graph_pb2.GraphDef())
        graphs[run] = [
            {
                "name": node.name,
                "op": node.op,
                "inputs": list(node.input),
                "shapes": [
                    [dim.size for dim in shape.dim] for shape in node.attr["_output_shapes"].list.shape
                ],
            }
            for node in graph.node
        ]
    result["graphs"] = graphs

    hparams = backend_context.Context(tb_context)
    handler = get_experiment.Handler(request, hparams, "", api_pb2.GetExperimentRequest())
    result["experiment"] = json_format.MessageToDict(handler.run())
    metrics = handler.run().metric_infos
    groups = api_pb2.ListSessionGroupsRequest(
        start_index=0,
        slice_size=1000,
        aggregation_type=api_pb2.AGGREGATION_AVG,
        allowed_statuses=[
            api_pb2.STATUS_UNKNOWN,
            api_pb2.STATUS_SUCCESS,
            api_pb2.STATUS_FAILURE,
            api_pb2.STATUS_RUNNING,
        ],
    )
    for metric in metrics:
        groups.col_params.add(metric=metric.name)
    result["session_groups"] = json_format.MessageToDict(
        list_session_groups.Handler(request, hparams, "", groups).run()
    ).get("sessionGroups", [])

    accumulated = {}
    for run, path in multiplexer.RunPaths().items():
        accumulator = event_accumulator.EventAccumulator(path, size_guidance={event_accumulator.SCALARS: 0})
        accumulator.Reload()
        accumulated[run] = {
            tag: [[point.step, point.value] for point in accumulator.Scalars(tag)]
            for tag in accumulator.Tags()["scalars"]
        }
    result["accumulated"] = accumulated
    json.dump(result, sys.stdout)


main()
