import { can, environment, project, projectKey } from '../../state/session.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AccountDetailsCard } from './account-details-card.tsx';
import { AccountNameCard } from './account-name-card.tsx';
import { ChannelCard } from './channel-card.tsx';
import { PlaybackPolicyCard } from './playback-policy-card.tsx';
import { RetentionCard } from './retention-card.tsx';
import { UpgradeCard } from './upgrade-card.tsx';
import { VideoDefaultsCard } from './video-defaults-card.tsx';

const ofProject = '/dashboard/settings';
const ofOrganisation = `${ofProject}?part=organisation`;

const tabs = [
  { href: ofProject, label: 'Project' },
  { href: ofOrganisation, label: 'Organisation' },
];

export function SettingsPage() {
  const { query } = useQuery();
  const isOfProject = query.part !== 'organisation';
  return (
    <Page
      title="Settings"
      lead={
        isOfProject
          ? `For the project ${project.value?.name ?? ''}, in ${environment.value === 'sandbox' ? 'the sandbox' : 'production'}.`
          : 'For the whole account, with all its projects.'
      }
    >
      <Tabs label="Settings sections" tabs={tabs} current={isOfProject ? ofProject : ofOrganisation} />
      {isOfProject ? <ProjectSettings key={projectKey.value} /> : <OrganisationSettings />}
    </Page>
  );
}

function ProjectSettings() {
  return (
    <>
      <RetentionCard />
      <VideoDefaultsCard />
      <PlaybackPolicyCard />
      <ChannelCard />
    </>
  );
}

function OrganisationSettings() {
  return (
    <>
      <UpgradeCard />
      {can('admin') && <AccountNameCard />}
      <AccountDetailsCard />
    </>
  );
}
