import type { ComponentChildren } from 'preact';
import { can } from '../../state/session.ts';
import { t } from '../../texts/overview.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';
import type { CompletedSteps } from './completed-steps.ts';

export function FirstSteps({ done, onHide }: { done: CompletedSteps; onHide: () => void }) {
  const steps = [done.live, done.video, ...(can('admin') ? [done.key] : [])];
  const count = steps.filter(Boolean).length;
  const current = steps.indexOf(false) + 1;
  return (
    <Card
      title={t('steps.title')}
      actions={
        <>
          <span class="quiet number">{t('steps.done', { count, total: steps.length })}</span>
          <Button small kind="quiet" onClick={onHide}>
            {t('steps.hide')}
          </Button>
        </>
      }
    >
      <ol class="first-steps">
        <Step number={1} current={current} title={t('steps.live')} isDone={done.live}>
          <p class="hint">{t('steps.liveText')}</p>
        </Step>
        <Step number={2} current={current} title={t('steps.video')} isDone={done.video}>
          <p class="hint">{t('steps.videoText')}</p>
          <Button small icon="upload" href="/dashboard/videos">
            {t('steps.video')}
          </Button>
        </Step>
        {can('admin') && (
          <Step number={3} current={current} title={t('steps.key')} isDone={done.key}>
            <p class="hint">{t('steps.keyText')}</p>
            <Button small icon="key" href="/dashboard/keys">
              {t('steps.key')}
            </Button>
          </Step>
        )}
      </ol>
    </Card>
  );
}

function Step({
  number,
  current,
  title,
  isDone,
  children,
}: {
  number: number;
  current: number;
  title: string;
  isDone: boolean;
  children: ComponentChildren;
}) {
  return (
    <li
      class={`step${isDone ? ' done' : number === current ? ' current' : ''}`}
      aria-current={number === current ? 'step' : undefined}
    >
      <span class="step-mark" aria-hidden="true">
        {isDone ? <Icon name="check" size={18} /> : number}
      </span>
      <div class="step-body">
        <h3>
          {title}
          {isDone && <span class="for-readers">{t('steps.isDone')}</span>}
        </h3>
        {!isDone && children}
      </div>
    </li>
  );
}
