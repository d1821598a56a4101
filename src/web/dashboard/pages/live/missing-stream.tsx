import { elsewhere } from '../../state/session.ts';
import { t } from '../../texts/live.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/states.tsx';

export function backToStreams() {
  return { href: '/dashboard/live', label: t('streams.title') };
}

export function MissingStream() {
  const back = backToStreams();
  return (
    <Page title={t('streams.one')} back={back}>
      <EmptyState
        icon="live"
        title={t('missing.title')}
        action={<Button href={back.href}>{t('missing.back')}</Button>}
      >
        {t('missing.text', { elsewhere: elsewhere.value })}
      </EmptyState>
    </Page>
  );
}
