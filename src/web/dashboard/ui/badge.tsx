import type { ComponentChildren } from 'preact';

export type Tone = 'neutral' | 'good' | 'info' | 'warning' | 'bad' | 'live';

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
