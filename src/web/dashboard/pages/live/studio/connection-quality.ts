import { t } from '../../../texts/live.ts';
export interface UplinkStats {
  readonly bitsPerSecond: number;
  readonly framesPerSecond: number;
  readonly width: number | undefined;
  readonly height: number | undefined;
  /** Reported by the server; undefined until the first report. */
  readonly roundTripMs: number | undefined;
  /** 0..1 of the packets since the report before; undefined until the server has reported. */
  readonly lossShare: number | undefined;
  /** Reason for which the browser sends less than it could. */
  readonly limitedBy: 'none' | 'cpu' | 'bandwidth' | 'other';
}

interface ConnectionQuality {
  readonly grade: 'good' | 'fair' | 'poor';
  readonly text: string;
}

const fairLoss = 0.02;
const poorLoss = 0.08;
const fairRoundTripMs = 250;
const poorRoundTripMs = 600;
/** Share of the chosen bitrate. */
const poorBitrateShare = 0.35;
const minFramesPerSecond = 15;

/** @param maxBitsPerSecond of the chosen quality */
export function connectionQuality(stats: UplinkStats, maxBitsPerSecond: number): ConnectionQuality {
  const { lossShare = 0, roundTripMs = 0, limitedBy, bitsPerSecond, framesPerSecond } = stats;
  const isStarved = limitedBy === 'bandwidth' && bitsPerSecond < maxBitsPerSecond * poorBitrateShare;
  if (lossShare >= poorLoss || roundTripMs >= poorRoundTripMs || isStarved) {
    return {
      grade: 'poor',
      text: t('studio.quality.slow'),
    };
  }
  if (limitedBy === 'cpu' && framesPerSecond < minFramesPerSecond) {
    return {
      grade: 'poor',
      text: t('studio.quality.busy'),
    };
  }
  if (lossShare >= fairLoss || roundTripMs >= fairRoundTripMs || limitedBy === 'bandwidth') {
    return { grade: 'fair', text: t('studio.quality.limited') };
  }
  if (limitedBy === 'cpu') return { grade: 'fair', text: t('studio.quality.fair') };
  return { grade: 'good', text: t('studio.quality.good') };
}

export interface UplinkCounters {
  readonly atMs: number;
  readonly bytesSent: number;
  readonly framesSent: number;
  readonly stats: Omit<UplinkStats, 'bitsPerSecond' | 'framesPerSecond'>;
}

interface StatsEntry {
  readonly type: string;
  readonly kind?: string;
  readonly timestamp: number;
  readonly [name: string]: unknown;
}

/** Undefined before the first video is sent. @param report of an RTCPeerConnection */
export function readCounters(report: Iterable<StatsEntry>): UplinkCounters | undefined {
  let bytesSent = 0;
  let video: StatsEntry | undefined;
  let remote: StatsEntry | undefined;
  for (const entry of report) {
    if (entry.type === 'outbound-rtp') {
      bytesSent += numberOf(entry.bytesSent) ?? 0;
      if (entry.kind === 'video') video = entry;
    } else if (entry.type === 'remote-inbound-rtp' && entry.kind === 'video') remote = entry;
  }
  if (video === undefined) return undefined;
  const roundTripSeconds = numberOf(remote?.roundTripTime);
  const limitation = video.qualityLimitationReason;
  return {
    atMs: video.timestamp,
    bytesSent,
    framesSent: numberOf(video.framesSent) ?? 0,
    stats: {
      width: numberOf(video.frameWidth),
      height: numberOf(video.frameHeight),
      roundTripMs: roundTripSeconds === undefined ? undefined : Math.round(roundTripSeconds * 1000),
      lossShare: numberOf(remote?.fractionLost),
      limitedBy:
        limitation === 'cpu' || limitation === 'bandwidth' || limitation === 'other' ? limitation : 'none',
    },
  };
}

/** Undefined if no time lies between them. */
export function uplinkStats(former: UplinkCounters, now: UplinkCounters): UplinkStats | undefined {
  const seconds = (now.atMs - former.atMs) / 1000;
  if (seconds <= 0 || now.bytesSent < former.bytesSent) return undefined;
  return {
    ...now.stats,
    bitsPerSecond: Math.round(((now.bytesSent - former.bytesSent) * 8) / seconds),
    framesPerSecond: Math.round((now.framesSent - former.framesSent) / seconds),
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
