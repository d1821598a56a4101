import { t } from '../../texts/server.ts';
import { Tabs } from '../../ui/tabs.tsx';

export function ServerTabs({ current }: { current: '/dashboard/server' | '/dashboard/server/settings' }) {
  return (
    <Tabs
      label={t('server.tabs')}
      tabs={[
        { href: '/dashboard/server', label: t('server.state') },
        { href: '/dashboard/server/settings', label: t('settingList.title') },
      ]}
      current={current}
    />
  );
}
