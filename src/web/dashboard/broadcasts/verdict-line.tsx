import { Icon } from '../ui/icon.tsx';
import type { BroadcastVerdict } from './broadcast-verdict.ts';

const icons = { neutral: 'info', good: 'check', warning: 'warning', bad: 'warning' } as const;

export function VerdictLine({ verdict: { tone, text } }: { verdict: BroadcastVerdict }) {
  return (
    <p class={`verdict ${tone}`} role="status">
      <Icon name={icons[tone]} />
      <span>{text}</span>
    </p>
  );
}
