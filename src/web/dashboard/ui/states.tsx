import type { ComponentChildren } from 'preact';
import type { ApiProblem } from '../api/problem.ts';
import { problemText } from '../format/problem-text.ts';
import { t } from '../texts/shell.ts';
import { Button } from './button.tsx';
import type { Loaded } from './hooks/use-load.ts';
import { Icon, type IconName } from './icon.tsx';
import { Notice } from './notice.tsx';

export function EmptyState({
  icon,
  title,
  action,
  children,
}: {
  icon: IconName;
  title: string;
  action?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={28} />
      </span>
      <p class="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
      {action}
    </div>
  );
}

export function LoadError({ problem, retry }: { problem: ApiProblem; retry: () => void }) {
  return (
    <Notice
      tone="bad"
      title={t(problem.status === 404 ? 'problem.notFound' : 'problem.notLoaded')}
      action={
        <Button small icon="refresh" onClick={retry}>
          {t('problem.tryAgain')}
        </Button>
      }
    >
      {problemText(problem)}
    </Notice>
  );
}

export function Skeleton({ rows = 3, height }: { rows?: number; height?: number }) {
  if (height !== undefined)
    return <div class="skeleton block" style={{ height: `${height}px` }} aria-hidden="true" />;
  return (
    <div class="skeleton-rows" aria-hidden="true">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} class="skeleton" />
      ))}
    </div>
  );
}

export function LoadedContent<Value>({
  loaded,
  rows = 3,
  height,
  children,
}: {
  loaded: Loaded<Value>;
  rows?: number;
  height?: number;
  children: (value: Value) => ComponentChildren;
}) {
  const { value, problem, isLoading, reload } = loaded;
  if (value === undefined) {
    if (problem !== undefined) return <LoadError problem={problem} retry={reload} />;
    return (
      <div role="status">
        <span class="for-readers">{t('list.loading')}</span>
        <Skeleton {...(height === undefined ? { rows } : { height })} />
      </div>
    );
  }
  return (
    <div class="shown" aria-busy={isLoading}>
      {problem !== undefined && <LoadError problem={problem} retry={reload} />}
      {children(value)}
    </div>
  );
}
