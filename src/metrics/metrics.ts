import { monitorEventLoopDelay } from 'node:perf_hooks';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';

const routeLabels = ['method', 'route', 'status'] as const;
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const lagBuckets = [0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.25, 0.5, 1, 2, 5];

const eventLoopResolutionMs = 10;
/** A hundred timers per second cost half a percent of a core. */
const measuredAfterScrapeMs = 300_000;

export interface DescribedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
}

/** Every label has few values: routes are patterns, reasons come from closed unions. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #eventLoop = monitorEventLoopDelay({ resolution: eventLoopResolutionMs });

  readonly broadcasts = this.#gauge('broadcasts', 'Live broadcasts by state.', ['state']);
  readonly broadcastsEnded = this.#counter('broadcasts_ended_total', 'Broadcasts ended by reason.', [
    'reason',
  ]);
  readonly publishers = this.#gauge('publishers', 'Encoders that are publishing.');
  readonly publishersRefused = this.#counter('publishers_refused_total', 'Publishes refused by reason.', [
    'reason',
  ]);
  readonly ingestConnections = this.#gauge('ingest_connections', 'Open RTMP, RTMPS and SRT connections.');
  readonly broadcastBitsPerSecond = this.#gauge(
    'broadcast_bits_per_second',
    'Average media bits received per second over the last 4 seconds, of all broadcasts.',
  );
  readonly broadcastFramesPerSecond = this.#gauge(
    'broadcast_frames_per_second',
    'Average video frames received per second over the last 4 seconds, of all broadcasts.',
  );
  readonly qualitiesDropped = this.#counter(
    'live_qualities_dropped_total',
    'Renditions of broadcasts dropped, by quality and reason.',
    ['quality', 'reason'],
  );
  /** `how`: `dropped` by this server, or `missing` from the publisher. */
  readonly framesLost = this.#counter(
    'broadcast_frames_lost_total',
    'Video frames dropped by this server, or missing by their timestamps.',
    ['how'],
  );
  readonly recordings = this.#gauge('recordings', 'Running recordings.');
  readonly recordingUploadLag = this.#gauge(
    'recording_upload_lag_seconds',
    'Part of a recording that is not in object storage yet, of the one that is furthest behind.',
  );
  readonly recordedBytes = this.#counter('recorded_bytes_total', 'Bytes written to recordings.');
  readonly recordingsStopped = this.#counter(
    'recordings_stopped_total',
    'Recordings that ended before their broadcast by reason.',
    ['reason'],
  );
  readonly alarmsRaised = this.#counter(
    'ingest_alarms_raised_total',
    'Alarms raised about published streams by kind.',
    ['alarm'],
  );
  readonly viewers = this.#gauge('viewers', 'Viewers of live streams.');
  #bytesIn = 0;
  readonly #ingestPackets = { received: 0, lost: 0, recovered: 0 };
  readonly bytesOut = this.#counter('bytes_out_total', 'Media bytes sent to viewers.');
  readonly restreams = this.#gauge('restreams', 'Restream destinations of live broadcasts by state.', [
    'state',
  ]);
  readonly restreamBytesOut = this.#counter(
    'restream_bytes_out_total',
    'Bytes sent to restream destinations.',
  );
  readonly restreamFramesDropped = this.#counter(
    'restream_frames_dropped_total',
    'Video frames not sent to slow restream destinations.',
  );
  readonly restreamRetries = this.#counter(
    'restream_retries_total',
    'Reconnection attempts to restream destinations.',
  );
  readonly restreamFailures = this.#counter(
    'restream_failures_total',
    'Failed connections to restream destinations by reason.',
    ['reason'],
  );
  /** `side`: `publisher` or `viewer`. */
  readonly connectionsDropped = this.#counter(
    'connections_dropped_total',
    'Connections ended by us by side and reason.',
    ['side', 'reason'],
  );
  readonly feedClients = this.#gauge('feed_clients', 'WebSocket clients of the event feed.');
  readonly feedClosed = this.#counter('feed_closed_total', 'Closed WebSockets of the event feed by reason.', [
    'reason',
  ]);
  /** `kind`: `event`, or `transient` for current state. */
  readonly feedMessages = this.#counter('feed_messages_total', 'Messages sent to WebSockets by kind.', [
    'kind',
  ]);
  readonly feedDropped = this.#counter(
    'feed_dropped_total',
    'Statistics and progress not sent to slow WebSockets.',
  );
  /** `delivered`, `failed` (a retry follows), `given-up`, and `dropped` without a final attempt. */
  readonly webhookAttempts = this.#counter(
    'webhook_attempts_total',
    'Webhook delivery attempts by outcome.',
    ['outcome'],
  );
  readonly webhookSeconds = this.#histogram(
    'webhook_attempt_duration_seconds',
    'Duration of a webhook delivery attempt.',
    durationBuckets,
  );
  readonly webhooksWaiting = this.#gauge(
    'webhook_deliveries_waiting',
    'Webhook deliveries that wait to be sent.',
  );
  /** `hook`: `publish` or `play`. `outcome`: `allowed`, `refused`, or `failed` when the hook did not decide. */
  readonly hookRequests = this.#counter('hook_requests_total', 'Requests to hooks by outcome.', [
    'hook',
    'outcome',
  ]);
  readonly hookSeconds = this.#histogram(
    'hook_request_duration_seconds',
    'Time that a publisher or viewer waited for a hook.',
    durationBuckets,
  );
  readonly ffmpegProcesses = this.#gauge('ffmpeg_processes', 'Running ffmpeg processes by purpose.', [
    'purpose',
  ]);
  readonly ffmpegFailures = this.#counter('ffmpeg_failures_total', 'ffmpeg processes that died by purpose.', [
    'purpose',
  ]);
  readonly jobsEnded = this.#counter('jobs_ended_total', 'Jobs ended by kind and outcome.', [
    'kind',
    'outcome',
  ]);
  readonly jobs = this.#gauge('jobs', 'Jobs in the queue by lane and state.', ['lane', 'state']);
  readonly segmentLagSeconds = this.#histogram(
    'segment_lag_seconds',
    "Time from a segment's last frame to its availability.",
    lagBuckets,
  );
  readonly partLagSeconds = this.#histogram(
    'part_lag_seconds',
    "Time from a part's last frame to its availability.",
    lagBuckets,
  );
  readonly renditionLagSeconds = this.#histogram(
    'rung_lag_seconds',
    "Time from an encoded part's last frame to its availability.",
    lagBuckets,
  );
  /** Requests by kind and status: a labelled counter takes longer than the rest of a small response. */
  readonly #mediaRequests = new Map<string, Map<number, number>>();
  readonly sweepRemoved = this.#counter(
    'sweep_removed_total',
    'Unreferenced files and folders removed by sweeps.',
    ['what'],
  );
  readonly sweepFreedBytes = this.#counter('sweep_freed_bytes_total', 'Bytes freed by sweeps.');
  readonly sweepRepaired = this.#counter('sweep_mended_total', 'Database rows repaired by sweeps.', ['what']);
  /** `outcome`: `ok`, or the kind of the fault. */
  readonly storageRequests = this.#counter(
    'storage_requests_total',
    'Requests to the S3 storage by operation and outcome.',
    ['operation', 'outcome'],
  );
  readonly storageSeconds = this.#histogram(
    'storage_request_duration_seconds',
    'Duration of a request to the S3 storage by operation.',
    durationBuckets,
    ['operation'],
  );
  readonly storageBytes = this.#counter(
    'storage_bytes_total',
    'Bytes read from and written to the S3 storage.',
    ['direction'],
  );
  readonly storageCacheReads = this.#counter(
    'storage_cache_reads_total',
    'Reads of files of the S3 storage that the local cache had (hit) or not (miss).',
    ['result'],
  );
  readonly storageCacheBytes = this.#gauge(
    'storage_cache_bytes',
    'Disk space of the cache of the S3 storage.',
  );
  readonly databaseUp = this.#gauge('database_up', '1 while the server can use its database, else 0.');
  readonly diskFreeBytes = this.#gauge('disk_free_bytes', 'Free disk space of the data folder.');
  readonly diskReservedBytes = this.#gauge(
    'disk_reserved_bytes',
    'Free disk space below which uploads are refused.',
  );
  readonly certificateEndSeconds = this.#gauge(
    'certificate_end_seconds',
    'Unix time at which the certificate of the server ends; 0 without one.',
  );
  readonly #httpRequests = this.#counter(
    'http_requests_total',
    'API requests by method, route and status.',
    routeLabels,
  );
  readonly #httpSeconds = this.#histogram(
    'http_request_duration_seconds',
    'Time to answer an API request by route.',
    durationBuckets,
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
        // Skips an empty histogram: before the first sample the minimum is above the maximum.
        if (min <= max) {
          gauge.set({ quantile: '0.5' }, delaySecondsOf(this.#eventLoop.percentile(50)));
          gauge.set({ quantile: '0.99' }, delaySecondsOf(this.#eventLoop.percentile(99)));
          gauge.set({ quantile: '1' }, delaySecondsOf(max));
        }
        this.#eventLoop.reset();
        this.#measureEventLoop();
      },
    );
    this.#counter('bytes_in_total', 'Media bytes received from publishers.', [], counter => {
      counter.reset();
      counter.inc(this.#bytesIn);
    });
    this.#counter(
      'ingest_packets_total',
      'Packets from publishers over UDP: received, lost on the way, and of these recovered in time.',
      ['outcome'],
      counter => {
        counter.reset();
        for (const [outcome, count] of Object.entries(this.#ingestPackets)) counter.inc({ outcome }, count);
      },
    );
    this.#counter(
      'media_requests_total',
      'Requests for media by kind and status.',
      ['kind', 'status'],
      counter => {
        counter.reset();
        for (const [kind, byStatus] of this.#mediaRequests) {
          for (const [status, count] of byStatus) counter.inc({ kind, status: String(status) }, count);
        }
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

  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;

  /** Tells the metrics of nodes that share a database apart. */
  setNode(id: string): void {
    this.#registry.setDefaultLabels({ node: id });
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  describe(): DescribedMetric[] {
    // The types of the package leave out what all metrics have.
    return this.#registry.getMetricsAsArray().map(metric => {
      const { name, help, type, labelNames } = metric as unknown as Omit<DescribedMetric, 'labels'> & {
        readonly labelNames: readonly string[];
      };
      return { name, help, type, labels: labelNames };
    });
  }

  observeRequest(request: { method: string; route: string; status: number; durationMs: number }): void {
    const { route } = request;
    const method = knownMethods.has(request.method) ? request.method : 'other';
    this.#httpRequests.inc({ method, route, status: String(request.status) });
    this.#httpSeconds.observe({ route }, request.durationMs / 1_000);
  }

  /** A counter takes longer than the rest of a small read. */
  countBytesIn(bytes: number): void {
    this.#bytesIn += bytes;
  }

  /** Counts packets of protocols over UDP. */
  countIngestPackets(received: number, lost: number, recovered: number): void {
    this.#ingestPackets.received += received;
    this.#ingestPackets.lost += lost;
    this.#ingestPackets.recovered += recovered;
  }

  countMediaRequest(kind: string, status: number): void {
    let byStatus = this.#mediaRequests.get(kind);
    if (byStatus === undefined) {
      byStatus = new Map();
      this.#mediaRequests.set(kind, byStatus);
    }
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  }

  stop(): void {
    clearTimeout(this.#measuringEnds);
    this.#eventLoop.disable();
  }

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

function delaySecondsOf(measuredNs: number): number {
  return Math.max(0, measuredNs / 1e9 - eventLoopResolutionMs / 1e3);
}

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
