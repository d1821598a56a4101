import { FragmentReader } from '../../src/media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../src/media/cmaf/movie-box.ts';
import { readChildBox, readSampleEntry } from '../../src/media/cmaf/sample-entry.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import type { AudioFourCc } from '../../src/media/samples/media-sample.ts';
import { sampleTags } from './media-samples.ts';

/** Arguments of ffmpeg for an MP4 that {@link readAudioTags} reads. */
export const framesInMp4 = ['-f', 'mp4', '-movflags', '+delay_moov+default_base_moof+frag_every_frame'];

/** Makes tags of Enhanced RTMP of the audio in an MP4. */
export function readAudioTags(codec: AudioFourCc, mp4: Buffer): FlvTag[] {
  const tags: FlvTag[] = [];
  let track: TrackDescription | undefined;
  const reader = new FragmentReader({
    onInit: ([first]) => {
      track = first!;
      const config = configOf(track);
      if (config !== undefined) tags.push(sampleTags.audioConfig(codec, config, 0));
    },
    onSample: ({ dtsTicks, data }) =>
      tags.push(sampleTags.audio(codec, { dtsMs: (dtsTicks * 1000) / track!.timescale, data })),
  });
  reader.push(mp4);
  return tags;
}

/** Returns the configuration as encoders send it: OpusHead, and STREAMINFO behind `fLaC`. AC-3 has none. */
function configOf({ sampleEntry }: TrackDescription): Buffer | undefined {
  const fields = readSampleEntry(sampleEntry, 'audio');
  if (fields.type === 'Opus') {
    const box = readChildBox(sampleEntry, fields, 'dOps');
    box.skip(1);
    const channels = box.u8();
    const [preSkip, inputRate] = [box.u16(), box.u32()];
    const head = Buffer.alloc(19);
    head.write('OpusHead', 'latin1');
    head[8] = 1;
    head[9] = channels;
    head.writeUInt16LE(preSkip, 10);
    head.writeUInt32LE(inputRate, 12);
    return head;
  }
  if (fields.type !== 'fLaC') return undefined;
  const box = readChildBox(sampleEntry, fields, 'dfLa');
  box.skip(4);
  return Buffer.concat([Buffer.from('fLaC'), box.bytes(box.remaining)]);
}
