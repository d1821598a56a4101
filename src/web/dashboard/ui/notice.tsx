import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

export function Notice({
  tone = 'info',
  title,
  action,
  children,
}: {
  tone?: 'info' | 'good' | 'warning' | 'bad';
  title?: string;
  action?: ComponentChildren;
  children?: ComponentChildren;
}) {
  const icon = tone === 'good' ? 'check' : tone === 'info' ? 'info' : 'warning';
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon name={icon} />
      <div class="notice-text">
        {title !== undefined && <strong>{title}</strong>}
        {children}
      </div>
      {action}
    </div>
  );
}
