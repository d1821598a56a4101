import { can, projectKey } from '../../state/session.ts';
import { t } from '../../texts/server.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { chosenProject } from '../usage/usage-page.tsx';
import { AccountDetailsCard } from './account-details-card.tsx';
import { AccountNameCard } from './account-name-card.tsx';
import { ChannelCard } from './channel-card.tsx';
import { PlaybackPolicyCard } from './playback-policy-card.tsx';
import { RetentionCard } from './retention-card.tsx';
import { UpgradeCard } from './upgrade-card.tsx';
import { VideoDefaultsCard } from './video-defaults-card.tsx';

const ofProject = '/dashboard/settings';
const ofOrganisation = `${ofProject}?part=organisation`;

export function SettingsPage() {
  const { query } = useQuery();
  const isOfProject = query.part !== 'organisation';
  return (
    <Page
      title={t('settings.title')}
      lead={isOfProject ? t('settings.projectLead', chosenProject()) : t('settings.organisationLead')}
    >
      <Tabs
        label={t('settings.tabs')}
        tabs={[
          { href: ofProject, label: t('settings.project') },
          { href: ofOrganisation, label: t('settings.organisation') },
        ]}
        current={isOfProject ? ofProject : ofOrganisation}
      />
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
