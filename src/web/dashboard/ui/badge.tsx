import type { ComponentChildren } from 'preact';

/** What a badge's colour says; its words say it too. */
export type Tone = 'neutral' | 'good' | 'info' | 'warning' | 'bad' | 'live';

/** A word or two about the state of something. */
export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
