"""What the signal library's kernels keep per node. Source: snapshot 90b983c; kissfft v130."""

from __future__ import annotations

from tflm_sim.targets.abi import CStruct, declare

_K = "signal/micro/kernels/"
_S = "signal/src/"

STRUCTS: tuple[CStruct, ...] = (
    declare("energy.TFLMSignalEnergyParams", _K + "energy.cc:40", "int32 end_index; int32 start_index"),
    declare(
        "filter_bank.TFLMSignalFilterBankParams",
        _K + "filter_bank.cc:44",
        "tflm_signal::FilterbankConfig config; ptr work_area",
    ),
    declare(
        "framer.TFLMSignalFramerParams",
        _K + "framer.cc:40",
        "int32 frame_size; int32 frame_step; int32 outer_dims; int32 n_frames; bool prefill; ptr state_buffers; "
        "ptr circular_buffers",
    ),
    declare(
        "delay.TFLMSignalFrontendDelayParams",
        _K + "delay.cc:38",
        "int32 frame_size; int32 delay_length; int32 outer_dims; ptr state_buffers; ptr circular_buffers",
    ),
    declare(
        "filter_bank_log.TFLMSignalLogParams",
        _K + "filter_bank_log.cc:40",
        "int input_correction_bits; int output_scale",
    ),
    declare(
        "overlap_add.TFLMSignalOverlapAddParams",
        _K + "overlap_add.cc:41",
        "int32 frame_size; int32 frame_step; int32 outer_dims; int32 n_frames; enum type; ptr state_buffers",
    ),
    declare(
        "filter_bank_spectral_subtraction.TFLMSignalSpectralSubtractionParams",
        _K + "filter_bank_spectral_subtraction.cc:48",
        "tflm_signal::SpectralSubtractionConfig config; ptr noise_estimate; size_t noise_estimate_size",
    ),
    declare(
        "stacker.TFLMSignalStackerParams",
        _K + "stacker.cc:41",
        "int32 num_channels; int32 stacker_left_context; int32 stacker_right_context; int32 stacker_step; "
        "size_t buffer_size; size_t step_size; bool stacker_has_first_frame; ptr state; ptr circular_buffer",
    ),
    declare("window.TFLMSignalWindowParams", _K + "window.cc:39", "int32 shift; int32 input_size"),
    declare(
        "irfft.TfLiteAudioFrontendIrfftParams",
        _K + "irfft.cc:42",
        "int32 fft_length; int32 input_size; int32 input_length; int32 output_length; enum fft_type; ptr state",
    ),
    declare(
        "rfft.TfLiteAudioFrontendRfftParams",
        _K + "rfft.cc:44",
        "int32 fft_length; int32 input_size; int32 input_length; int32 output_length; enum fft_type; "
        "ptr work_area; int scratch_buffer_index; ptr state",
    ),
    declare(
        "tflm_signal::CircularBuffer",
        _S + "circular_buffer.h:25",
        "size_t capacity; size_t read; size_t write; int32 empty; int32 buffer_size; ptr buffer",
    ),
    declare(
        "tflm_signal::FilterbankConfig",
        _S + "filter_bank.h:25",
        "int32 num_channels; ptr channel_frequency_starts; ptr channel_weight_starts; ptr channel_widths; "
        "ptr weights; ptr unweights; int32 output_scale; int32 input_correction_bits",
    ),
    declare("tflm_signal::IrfftFloatState", _S + "irfft_float.cc:27", "int32 fft_length; ptr cfg"),
    declare(
        "tflm_signal::SpectralSubtractionConfig",
        _S + "filter_bank_spectral_subtraction.h:25",
        "int32 num_channels; uint32 smoothing; uint32 one_minus_smoothing; uint32 min_signal_remaining; "
        "uint32 alternate_smoothing; uint32 alternate_one_minus_smoothing; uint32 smoothing_bits; "
        "uint32 spectral_subtraction_bits; bool clamping",
    ),
    declare("tflm_signal::TfLitePcanParams", _K + "pcan.cc:41", "int snr_shift"),
    declare("kiss_fft_state", "kissfft v130 _kiss_fft_guts.h", "int nfft; int inverse; int[64] factors"),
    declare("kiss_fftr_state", "kissfft v130 tools/kiss_fftr.c", "ptr substate; ptr tmpbuf; ptr super_twiddles"),
)
