import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, isAbort } from '../../../api/problem.ts';
import { t } from '../../../texts/video.ts';
import { fetchText } from '../../video/thumbnail/use-frame-source.ts';
import {
  type AudioPlaylist,
  type AudioSegment,
  audioPlaylistUrl,
  parseAudioPlaylist,
} from './audio-playlist.ts';
import { findPeaks, type PeakPart } from './peaks.ts';

/** The lowest sample rate that browsers must offer: more is not seen. */
const sampleRate = 8_000;
/** Half an hour or more, in less than 1 MB. */
const maxParts = 300;

export interface Waveform {
  readonly state: 'loading' | 'ready' | 'silent' | 'failed';
  readonly parts: readonly PeakPart[];
}

interface Source {
  readonly playlist: AudioPlaylist;
  readonly init: ArrayBuffer;
}

/** Decodes the segments of the audio that a window needs, one after the other, and remembers the newest. */
export function useWaveform(hls: string, fromSeconds: number, spanSeconds: number): Waveform {
  const known = useRef(new Map<string, PeakPart>());
  const source = useRef<Promise<Source | undefined>>(undefined);
  const [waveform, setWaveform] = useState<Waveform>({ state: 'loading', parts: [] });
  useEffect(() => {
    const abort = new AbortController();
    source.current ??= loadSource(hls);
    const load = async () => {
      const found = await source.current;
      if (abort.signal.aborted) return;
      if (found === undefined) {
        setWaveform({ state: 'silent', parts: [] });
        return;
      }
      const { playlist, init } = found;
      if (!playlist.isComplete) source.current = undefined;
      for (const segment of segmentsIn(playlist.segments, fromSeconds, spanSeconds)) {
        if (!known.current.has(segment.url)) {
          known.current.set(segment.url, await loadPeaks(segment, init, abort.signal));
          for (const [oldest] of known.current) {
            if (known.current.size <= maxParts) break;
            known.current.delete(oldest);
          }
        }
        if (abort.signal.aborted) return;
        setWaveform({ state: 'ready', parts: [...known.current.values()] });
      }
    };
    load().catch((error: unknown) => {
      if (abort.signal.aborted || isAbort(error)) return;
      // The next window tries again.
      source.current = undefined;
      setWaveform(({ parts }) => ({ state: 'failed', parts }));
    });
    return () => abort.abort();
  }, [hls, fromSeconds, spanSeconds]);
  return waveform;
}

function segmentsIn(segments: readonly AudioSegment[], from: number, span: number): AudioSegment[] {
  return segments.filter(
    ({ startSeconds, durationSeconds }) =>
      startSeconds < from + span && startSeconds + durationSeconds > from,
  );
}

/** Undefined for a video without audio. */
async function loadSource(hls: string): Promise<Source | undefined> {
  const { signal } = new AbortController();
  const master = new URL(hls, location.href).href;
  const address = audioPlaylistUrl(await fetchText(master, signal), master);
  if (address === undefined) return undefined;
  const playlist = parseAudioPlaylist(await fetchText(address, signal), address);
  return playlist && { playlist, init: await fetchBytes(playlist.initUrl, signal) };
}

async function loadPeaks(
  { url, startSeconds, durationSeconds }: AudioSegment,
  init: ArrayBuffer,
  signal: AbortSignal,
): Promise<PeakPart> {
  const media = await fetchBytes(url, signal);
  const file = new Uint8Array(init.byteLength + media.byteLength);
  file.set(new Uint8Array(init));
  file.set(new Uint8Array(media), init.byteLength);
  const audio = await new OfflineAudioContext(1, 1, sampleRate).decodeAudioData(file.buffer);
  const channels = Array.from({ length: audio.numberOfChannels }, (_, index) => audio.getChannelData(index));
  // Decoders may add some frames.
  const samples = Math.round(durationSeconds * sampleRate);
  return {
    startSeconds,
    peaks: findPeaks(
      channels.map(data => data.subarray(0, samples)),
      sampleRate,
    ),
  };
}

async function fetchBytes(url: string, signal: AbortSignal): Promise<ArrayBuffer> {
  const answer = await fetch(url, { signal });
  if (!answer.ok) throw new ApiProblem(answer.status, { title: t('timeline.audioFailed') });
  return await answer.arrayBuffer();
}
