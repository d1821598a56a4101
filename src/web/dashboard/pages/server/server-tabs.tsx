import { Tabs } from '../../ui/tabs.tsx';

const tabs = [
  { href: '/dashboard/server', label: 'State' },
  { href: '/dashboard/server/settings', label: 'Settings' },
] as const;

export function ServerTabs({ current }: { current: (typeof tabs)[number]['href'] }) {
  return <Tabs label="Server sections" tabs={tabs} current={current} />;
}
