/** The public entry also loads OpenTelemetry, a push client and 50 metrics files: 20 ms per start. */

declare module 'prom-client/lib/counter.js' {
  export { Counter as default } from 'prom-client';
}

declare module 'prom-client/lib/gauge.js' {
  export { Gauge as default } from 'prom-client';
}

declare module 'prom-client/lib/histogram.js' {
  export { Histogram as default } from 'prom-client';
}

declare module 'prom-client/lib/registry.js' {
  export { Registry as default } from 'prom-client';
}
