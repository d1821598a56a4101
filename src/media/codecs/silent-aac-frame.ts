import type { TrackDescription } from '../cmaf/movie-box.ts';

/** One channel element or channel pair with an empty spectrum (ISO/IEC 14496-3:2019, 4.4.2). */
const byChannels: Readonly<Record<number, Buffer>> = {
  1: Buffer.from([0x00, 0xc8, 0x00, 0x80, 0x23, 0x80]),
  2: Buffer.from([0x21, 0x00, 0x49, 0x90, 0x02, 0x19, 0x00, 0x23, 0x80]),
};

/** Undefined unless the track is AAC-LC with one or two channels. */
export function silentAacFrame(track: TrackDescription): Buffer | undefined {
  return track.codec === 'mp4a.40.2' ? byChannels[track.channels ?? 0] : undefined;
}
