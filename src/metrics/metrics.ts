import { monitorEventLoopDelay } from 'node:perf_hooks';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';

const routeLabels = ['method', 'route', 'status'] as const;
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** From an unnoticeable to an unacceptable wait. */
const answerSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const lagSeconds = [0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.25, 0.5, 1, 2, 5];

/** How often the delay of the event loop is measured; a measured time has this wait in it. */
const eventLoopResolutionMs = 10;
/** The event loop is measured for as long after a scrape: a hundred timers a second are half a percent of a core. */
const measuredAfterScrapeMs = 300_000;

/**
 * Everything that `/metrics` shows, in Prometheus' text form. Every label has few values: routes are patterns, reasons come
 * from closed unions.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #eventLoop = monitorEventLoopDelay({ resolution: eventLoopResolutionMs });

  /** Broadcasts that are on air, by state. */
  readonly broadcasts = this.#gauge('broadcasts', 'Broadcasts on air by state.', ['state']);
  /** Broadcasts that ended, by reason. */
  readonly broadcastsEnded = this.#counter('broadcasts_ended_total', 'Broadcasts ended by reason.', [
    'reason',
  ]);
  /** Encoders that are publishing. */
  readonly publishers = this.#gauge('publishers', 'Encoders that are publishing.');
  /** Publishes that were refused, by reason. */
  readonly publishersRefused = this.#counter('publishers_refused_total', 'Publishes refused by reason.', [
    'reason',
  ]);
  /** Open RTMP and RTMPS connections, publishing or not. */
  readonly ingestConnections = this.#gauge('ingest_connections', 'Open RTMP and RTMPS connections.');
  /** Media that came in on average over the last 4 seconds, of all broadcasts. */
  readonly broadcastBitsPerSecond = this.#gauge(
    'broadcast_bits_per_second',
    'Media that came in on average over the last 4 seconds, of all broadcasts.',
  );
  /** Frames of picture that came in on average over the last 4 seconds, of all broadcasts. */
  readonly broadcastFramesPerSecond = this.#gauge(
    'broadcast_frames_per_second',
    'Frames of picture that came in on average over the last 4 seconds, of all broadcasts.',
  );
  /** Qualities of broadcasts that are made no more, since their encoder was too slow or failed. */
  readonly qualitiesDropped = this.#counter(
    'live_qualities_dropped_total',
    'Qualities of broadcasts given up, by quality and reason.',
    ['quality', 'reason'],
  );
  /** Frames of picture that were lost: `dropped` by this server, or `missing` from what publishers sent. */
  readonly framesLost = this.#counter(
    'broadcast_frames_lost_total',
    'Frames of picture dropped by this server, or missing by their timestamps.',
    ['how'],
  );
  /** Recordings that are being made. */
  readonly recordings = this.#gauge('recordings', 'Recordings that are being made.');
  /** Bytes of recordings that were written. */
  readonly recordedBytes = this.#counter('recorded_bytes_total', 'Bytes of recordings that were written.');
  /** Recordings that ended before their broadcast, by reason: `disk-low`, `disk-slow`, `disk-error`, `storage-limit`. */
  readonly recordingsStopped = this.#counter(
    'recordings_stopped_total',
    'Recordings that ended before their broadcast by reason.',
    ['reason'],
  );
  /** Alarms about what publishers send that went on, by kind. */
  readonly alarmsRaised = this.#counter(
    'ingest_alarms_raised_total',
    'Alarms about what publishers send that went on by kind.',
    ['alarm'],
  );
  /** Viewers of all streams. */
  readonly viewers = this.#gauge('viewers', 'Viewers of live streams.');
  /** Media bytes received. */
  readonly bytesIn = this.#counter('bytes_in_total', 'Media bytes received from publishers.');
  /** Media bytes sent. */
  readonly bytesOut = this.#counter('bytes_out_total', 'Media bytes sent to viewers.');
  /** Destinations of broadcasts on air, by state. */
  readonly restreams = this.#gauge('restreams', 'Destinations of broadcasts on air by state.', ['state']);
  /** Bytes that destinations took. */
  readonly restreamBytesOut = this.#counter('restream_bytes_out_total', 'Bytes that destinations took.');
  /** Frames of picture that were not sent to destinations that are too slow. */
  readonly restreamFramesDropped = this.#counter(
    'restream_frames_dropped_total',
    'Frames of picture not sent to destinations that are too slow.',
  );
  /** Connections to destinations that were tried again. */
  readonly restreamRetries = this.#counter(
    'restream_retries_total',
    'Connections to destinations that were tried again.',
  );
  /** Connections to destinations that failed or broke, by reason. */
  readonly restreamFailures = this.#counter(
    'restream_failures_total',
    'Connections to destinations that failed or broke by reason.',
    ['reason'],
  );
  /** Connections that we ended, by side (`publisher`, `viewer`) and reason. */
  readonly connectionsDropped = this.#counter(
    'connections_dropped_total',
    'Connections ended by us by side and reason.',
    ['side', 'reason'],
  );
  /** WebSockets that listen to events. */
  readonly feedClients = this.#gauge('feed_clients', 'WebSockets that listen to events.');
  /** WebSockets of events that ended, by reason. */
  readonly feedClosed = this.#counter('feed_closed_total', 'WebSockets of events that ended by reason.', [
    'reason',
  ]);
  /** Messages of the event feed, by kind: `event`, or `transient` for what is true of a moment. */
  readonly feedMessages = this.#counter('feed_messages_total', 'Messages sent to WebSockets by kind.', [
    'kind',
  ]);
  /** Messages about a moment that slow WebSockets were not sent. */
  readonly feedDropped = this.#counter(
    'feed_dropped_total',
    'Statistics and progress not sent to WebSockets that are behind.',
  );
  /** Tries to tell a webhook, by outcome: `delivered`, `failed` (tried again), `given-up`; `dropped` ones were never tried to the end. */
  readonly webhookAttempts = this.#counter('webhook_attempts_total', 'Tries to tell webhooks by outcome.', [
    'outcome',
  ]);
  /** Seconds from the beginning of a try to its answer. */
  readonly webhookSeconds = this.#histogram(
    'webhook_attempt_duration_seconds',
    'Time of a try to tell a webhook.',
    answerSeconds,
  );
  /** Events on their way to webhooks. */
  readonly webhooksWaiting = this.#gauge('webhook_deliveries_waiting', 'Events on their way to webhooks.');
  /** Running ffmpeg processes, by what they do. */
  readonly ffmpegProcesses = this.#gauge('ffmpeg_processes', 'Running ffmpeg processes by purpose.', [
    'purpose',
  ]);
  /** ffmpeg processes that ended without being asked, by what they did. */
  readonly ffmpegFailures = this.#counter('ffmpeg_failures_total', 'ffmpeg processes that died by purpose.', [
    'purpose',
  ]);
  /** Jobs that ended, by kind and outcome (`done`, `retried`, `failed`, `cancelled`). */
  readonly jobsEnded = this.#counter('jobs_ended_total', 'Jobs ended by kind and outcome.', [
    'kind',
    'outcome',
  ]);
  /** Jobs in the queue, by lane and state. */
  readonly jobs = this.#gauge('jobs', 'Jobs in the queue by lane and state.', ['lane', 'state']);
  /** Seconds from a segment's last frame to its being fetchable. */
  readonly segmentLagSeconds = this.#histogram(
    'segment_lag_seconds',
    "From a segment's last frame to its being fetchable.",
    lagSeconds,
  );
  /** Seconds from a part's last frame to its being fetchable. */
  readonly partLagSeconds = this.#histogram(
    'part_lag_seconds',
    "From a part's last frame to its being fetchable.",
    lagSeconds,
  );
  /** How long after its last frame an encoded part beside the source could be fetched. */
  readonly renditionLagSeconds = this.#histogram(
    'rung_lag_seconds',
    "From an encoded part's last frame to its being fetchable.",
    lagSeconds,
  );
  /** Media requests, by kind (`playlist`, `segment`, ...) and status. */
  readonly mediaRequests = this.#counter('media_requests_total', 'Requests for media by kind and status.', [
    'kind',
    'status',
  ]);
  /** Files that sweeps removed because nothing needed them, by what they were of. */
  readonly sweepRemoved = this.#counter(
    'sweep_removed_total',
    'Files and folders that sweeps removed because nothing named them.',
    ['what'],
  );
  /** Bytes that sweeps made free. */
  readonly sweepFreedBytes = this.#counter('sweep_freed_bytes_total', 'Bytes that sweeps made free.');
  /** Videos and the like whose files were gone, and whose rows now say so. */
  readonly sweepRepaired = this.#counter(
    'sweep_mended_total',
    'Videos and the like whose rows were mended by sweeps.',
    ['what'],
  );
  readonly #httpRequests = this.#counter(
    'http_requests_total',
    'API requests by method, route and status.',
    routeLabels,
  );
  readonly #httpSeconds = this.#histogram(
    'http_request_duration_seconds',
    'Time to answer an API request by route.',
    answerSeconds,
    ['route'],
  );

  #measuringEnds: NodeJS.Timeout | undefined;

  constructor() {
    this.#gauge(
      'event_loop_delay_seconds',
      'Delay of the event loop since the last scrape; none at the first scrape in five minutes.',
      ['quantile'],
      gauge => {
        const { min, max } = this.#eventLoop;
        gauge.reset();
        // Before the first sample the least value is above the greatest.
        if (min <= max) {
          gauge.set({ quantile: '0.5' }, delaySecondsOf(this.#eventLoop.percentile(50)));
          gauge.set({ quantile: '0.99' }, delaySecondsOf(this.#eventLoop.percentile(99)));
          gauge.set({ quantile: '1' }, delaySecondsOf(max));
        }
        this.#eventLoop.reset();
        this.#measureEventLoop();
      },
    );
    this.#counter(
      'process_cpu_seconds_total',
      'Processor time of this process, without its ffmpegs.',
      [],
      counter => {
        const { user, system } = process.cpuUsage();
        counter.reset();
        counter.inc((user + system) / 1e6);
      },
    );
    this.#gauge('process_resident_memory_bytes', 'Memory of this process, without its ffmpegs.', [], gauge =>
      gauge.set(process.memoryUsage.rss()),
    );
    this.#gauge('process_heap_bytes', 'JavaScript heap in use.', [], gauge =>
      gauge.set(process.memoryUsage().heapUsed),
    );
    this.#gauge('process_uptime_seconds', 'Time since the start.', [], gauge => gauge.set(process.uptime()));
  }

  /** The content type of {@link text}. */
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;

  /** All metrics of now. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Counts an API answer; `route` is the pattern of the path. */
  observeRequest(request: { method: string; route: string; status: number; durationMs: number }): void {
    const { route } = request;
    const method = knownMethods.has(request.method) ? request.method : 'other';
    this.#httpRequests.inc({ method, route, status: String(request.status) });
    this.#httpSeconds.observe({ route }, request.durationMs / 1_000);
  }

  /** Ends the measuring of the event loop. */
  stop(): void {
    clearTimeout(this.#measuringEnds);
    this.#eventLoop.disable();
  }

  /** Measures until nobody has scraped for a while. */
  #measureEventLoop(): void {
    clearTimeout(this.#measuringEnds);
    this.#measuringEnds = setTimeout(() => {
      this.#eventLoop.disable();
      this.#eventLoop.reset();
    }, measuredAfterScrapeMs);
    this.#measuringEnds.unref();
    this.#eventLoop.enable();
  }

  #counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    collect?: (counter: Counter<Label>) => void,
  ): Counter<Label> {
    return new Counter({
      name: `millrace_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      ...atScrape<Counter<Label>>(collect),
    });
  }

  #gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    collect?: (gauge: Gauge<Label>) => void,
  ): Gauge<Label> {
    return new Gauge({
      name: `millrace_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      ...atScrape<Gauge<Label>>(collect),
    });
  }

  #histogram<Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({
      name: `millrace_${name}`,
      help,
      labelNames,
      buckets,
      registers: [this.#registry],
    });
  }
}

/** What of a measured time, in nanoseconds, the event loop was late. */
function delaySecondsOf(measuredNs: number): number {
  return Math.max(0, measuredNs / 1e9 - eventLoopResolutionMs / 1e3);
}

/** The option of a metric that is worked out when somebody looks at it; nothing for one that is not. */
function atScrape<Metric>(collect: ((metric: Metric) => void) | undefined): {
  collect?: (this: Metric) => void;
} {
  if (collect === undefined) return {};
  return {
    collect() {
      collect(this);
    },
  };
}
