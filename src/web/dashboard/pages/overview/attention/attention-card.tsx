import { useState } from 'preact/hooks';
import { t } from '../../../texts/overview.ts';
import { Button } from '../../../ui/button.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Card } from '../../../ui/page.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import type { AttentionItem } from './attention-items.ts';

const maxShown = 5;

/** @param items undefined while they are loaded */
export function AttentionCard({ items }: { items: readonly AttentionItem[] | undefined }) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? items : items?.slice(0, maxShown);
  const hidden = (items?.length ?? 0) - (shown?.length ?? 0);
  return (
    <Card title={t('attention.title')} flush>
      {shown === undefined ? (
        <div class="attention-none">
          <Skeleton />
        </div>
      ) : shown.length === 0 ? (
        <p class="attention-none">
          <Icon name="check" />
          {t('attention.none')}
        </p>
      ) : (
        <ul>
          {shown.map(({ id, tone, title, isOfServer = false, text, href, action }) => (
            <li key={id} class={`attention ${tone}`}>
              <Icon name={tone === 'info' ? 'info' : 'warning'} />
              <div class="attention-text">
                <p class="attention-title">{isOfServer ? <bdi lang="en">{title}</bdi> : title}</p>
                {text !== undefined && (
                  <p class="hint">
                    <bdi>{text}</bdi>
                  </p>
                )}
              </div>
              <Button small href={href} label={t('live.actionOf', { action, name: title })}>
                {action}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {hidden > 0 && (
        <div class="attention-more">
          <Button small kind="quiet" onClick={() => setShowsAll(true)}>
            {t('attention.more', { count: hidden })}
          </Button>
        </div>
      )}
    </Card>
  );
}
