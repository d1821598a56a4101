import { parseSourceUrl, sourceUrlProblem } from '../../shared/network/source-url.ts';
import { type FfmpegSourceOptions, openHlsSource, openRtspSource } from './ffmpeg-source.ts';
import { isPlaylist, readTransportStream, requestSource } from './http-source.ts';
import { PullError, type PullEvents, type PullInput, type TargetRules } from './pull-input.ts';
import { openRtmpSource } from './rtmp-source.ts';
import { openSrtSource } from './srt-source.ts';

/** Connects to a source. @throws PullError */
export async function openSource(
  address: string,
  rules: TargetRules,
  events: PullEvents,
  options: FfmpegSourceOptions,
  signal: AbortSignal,
): Promise<PullInput> {
  const url = parseSourceUrl(address);
  const problem = sourceUrlProblem(address);
  if (problem !== undefined) throw new PullError(problem);
  switch (url?.protocol) {
    case 'rtsp:':
    case 'rtsps:':
      return openRtspSource(url, rules, events, options);
    case 'rtmp:':
    case 'rtmps:':
      return openRtmpSource(url, rules, events, signal);
    case 'srt:':
      return openSrtSource(url, rules, events, signal);
    case 'http:':
    case 'https:': {
      const answer = await requestSource(url, rules, signal);
      if (!isPlaylist(url, answer)) return readTransportStream(answer, events);
      answer.destroy();
      return openHlsSource(url, rules, events, options);
    }
    default:
      throw new PullError('The address of the source is not valid.');
  }
}
