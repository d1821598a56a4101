import { type Finding, ok, skipped, warning } from './finding.ts';

/** Viewers of live streams of the last hour by how they played. */
export interface LatencyReport {
  /** Viewers over WebRTC. */
  readonly ultraLow: number;
  /** HLS with requests that wait for the next part. */
  readonly low: number;
  /** HLS whose player asked for whole segments only. */
  readonly standard: number;
  /** Apple's players without HTTP/2, which they need for low latency. Part of {@link standard}. */
  readonly appleWithoutHttp2: number;
  /** Sessions over WebRTC that were agreed on, and never connected. */
  readonly unconnected: number;
  /** Refused over WebRTC: too many viewers. */
  readonly full: number;
  /** Refused over WebRTC: the broadcast is not offered there, or has B-frames. */
  readonly unsuitable: number;
}

const minViewers = 3;

export function describeLatency(report: LatencyReport): Finding {
  const { ultraLow, low, standard, appleWithoutHttp2, unconnected, full, unsuitable } = report;
  const viewers = ultraLow + low + standard;
  if (viewers + unconnected + full + unsuitable === 0) {
    return skipped('latency', 'Nobody has watched a live stream here since the start, or in the last hour.');
  }
  const parts = [
    [ultraLow, 'ultra low latency (WebRTC)'],
    [low, 'low latency (HLS parts)'],
    [standard, 'ordinary latency (HLS segments)'],
  ] as const;
  const counted = parts.filter(([count]) => count > 0).map(([count, name]) => `${count} with ${name}`);
  const text = `The last viewers: ${counted.join(', ') || 'none played'}.`;
  const facts = { ...report };
  if (unconnected >= minViewers && unconnected > ultraLow) {
    return warning('latency', `${text} ${unconnected} could not connect over WebRTC.`, {
      why: 'They play HLS instead, some seconds later: the WebRTC port cannot be reached, or the server names a wrong address.',
      mend: 'Open the WebRTC port (8189) for UDP and TCP, and set MILLRACE_WEBRTC_ADDRESSES to the public address. `millrace doctor --from URL` on another machine checks both.',
      facts,
    });
  }
  if (full > 0) {
    return warning(
      'latency',
      `${text} ${full} were refused over WebRTC, because it had its maximum of viewers.`,
      {
        why: 'They play HLS instead.',
        mend: 'Raise MILLRACE_WHEP_MAX_VIEWERS, if the machine and its network can carry more.',
        facts,
      },
    );
  }
  if (appleWithoutHttp2 >= minViewers && appleWithoutHttp2 > low) {
    return warning('latency', `${text} ${appleWithoutHttp2} of them have Apple's players, without HTTP/2.`, {
      why: 'These play with low latency only over HTTPS with HTTP/2.',
      mend: 'Set MILLRACE_TLS_DOMAINS, or turn HTTP/2 on in the proxy (nginx: http2 on).',
      facts,
    });
  }
  if (standard >= minViewers && standard > low + ultraLow) {
    return warning('latency', text, {
      why: 'Their players know no Low-Latency HLS, or something on the way drops the query of their requests.',
      mend: '`millrace doctor --from URL` checks the way. With other players than the page of the server, turn low latency on in them.',
      facts,
    });
  }
  const reason =
    unsuitable > 0
      ? ` ${unsuitable} wanted WebRTC, for a broadcast that is not offered there or has B-frames.`
      : '';
  return ok('latency', `${text}${reason}`, facts);
}
