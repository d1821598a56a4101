import { hevcParameterSets } from '../../src/media/codecs/frame-sizes.ts';
import {
  compositionOffsetMs,
  describeVideoTag,
  type FlvTag,
  videoHeaderBytes,
} from '../../src/media/flv/flv-tag.ts';
import { packetizeH264 } from '../../src/media/rtp/packetize.ts';

/** A frame as publishers over WHIP send it. */
export interface RtpFrameToSend {
  readonly dtsMs: number;
  readonly ptsMs: number;
  readonly payloads: readonly Buffer[];
}

/** Packetizes recorded H.264 or HEVC, with its parameter sets before each keyframe. */
export function rtpFramesOf(
  tags: readonly FlvTag[],
  changeSet: (sps: Buffer) => Buffer = sps => sps,
): RtpFrameToSend[] {
  let sets: Buffer[] = [];
  const frames: RtpFrameToSend[] = [];
  for (const { kind, body, timestampMs } of tags) {
    const { role, codec } = (kind === 'video' ? describeVideoTag(body) : undefined) ?? {};
    const isHevc = codec?.name === 'HEVC';
    const content = body.subarray(videoHeaderBytes(body));
    if (role === 'config') {
      sets = isHevc
        ? hevcParameterSets(content)
        : parameterSets(content).map((set, index) => (index === 0 ? changeSet(set) : set));
    }
    if (role !== 'keyframe' && role !== 'frame') continue;
    const units = [...(role === 'keyframe' ? sets : []), ...unitsIn(content)];
    frames.push({
      dtsMs: timestampMs,
      ptsMs: timestampMs + compositionOffsetMs(body),
      payloads: isHevc ? units : packetizeH264(units, 1_100),
    });
  }
  return frames;
}

/** One SPS and one PPS, as x264 writes them. */
function parameterSets(record: Buffer): Buffer[] {
  const spsBytes = record.readUInt16BE(6);
  const ppsAt = 8 + spsBytes + 1;
  return [
    record.subarray(8, 8 + spsBytes),
    record.subarray(ppsAt + 2, ppsAt + 2 + record.readUInt16BE(ppsAt)),
  ];
}

function unitsIn(frame: Buffer): Buffer[] {
  const units: Buffer[] = [];
  for (let at = 0; at < frame.length; ) {
    const end = at + 4 + frame.readUInt32BE(at);
    units.push(frame.subarray(at + 4, end));
    at = end;
  }
  return units;
}
