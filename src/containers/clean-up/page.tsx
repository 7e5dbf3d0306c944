import { FormError } from '../../web/fields-view.tsx'
import { Button, PostForm } from '../../web/form.tsx'
import type { Draft } from '../../web/draft.ts'
import { SettingsSection } from '../../web/settings-frame.tsx'
import { Ago } from '../../web/times.tsx'
import type { CleanUp } from './clean-ups.ts'
import type { BuildLimits, DiskShares } from './disk.ts'
import { DiskChart } from './disk-chart.tsx'
import type { DiskSpace } from '../../platform/disk-space.ts'
import { KindChoice } from './kind-choice.tsx'
import { pruneKinds } from './kinds.ts'
import { CleanUpForm } from './schedule-form.tsx'
import type { Schedule } from './schedule-store.ts'
import { ErrorAlert } from '../../web/failures.tsx'
import { bytes } from '../../web/units.ts'

export const prunePath = '/settings/prune'

type PruneOverview = {
  shares: DiskShares
  space: DiskSpace | null
  isFull: boolean
  builds: BuildLimits
  schedule: Schedule
  latest: CleanUp | null
  draft: Draft
}

/** What takes the disk, what can be done about it now, and every day. */
export const PruneOverviewSections = (overview: PruneOverview) => (
  <div id="clean-up">
    <SettingsSection id="disk" title="Disk" about="What the engine and Davit have on it.">
      <DiskChart {...overview} />
    </SettingsSection>
    <SettingsSection
      id="now"
      title="Clean up now"
      about="You see each thing and its size first, and choose. What apps, services and rollbacks need stays."
    >
      <NowForm {...overview} />
    </SettingsSection>
    <SettingsSection
      id="schedule"
      title="Every day"
      about="Takes what Davit made and needs no longer, and build cache that nothing has used for a day. Never volumes, and nothing of others."
    >
      <CleanUpForm schedule={overview.schedule} />
    </SettingsSection>
    <SettingsSection id="builds" title="Builds" about="What they leave to the apps.">
      <BuildLimitsView {...overview.builds} />
    </SettingsSection>
  </div>
)

const NowForm = ({ draft, latest }: PruneOverview) => (
  <PostForm
    action={prunePath}
    class="form"
    draft={draft}
    live
    hx-target="#clean-up"
    hx-swap="outerHTML show:window:top"
    hx-disable="find button[type=submit]"
  >
    <FormError />
    <input type="hidden" name="dry_run" value="1" />
    <KindChoice
      label="Look for"
      kinds={pruneKinds}
      ticked={pruneKinds.filter((kind) => kind !== 'volumes')}
      error={draft.errors['what']}
    />
    <div class="form-actions start">
      <Button>Show what can go</Button>
      {latest && (
        <p class="muted">
          <a href={`${prunePath}/result`}>
            {latest.finishedAt ? 'Last clean-up' : 'A clean-up is at work'}
          </a>{' '}
          by <bdi>{latest.by}</bdi> <Ago at={latest.startedAt} />
        </p>
      )}
    </div>
  </PostForm>
)

/** What a build may use, and whether the engine sees to it. */
const BuildLimitsView = ({ memory, cpus, free, uncapped }: BuildLimits) => (
  <div>
    <p class="muted">
      One build may use {bytes(memory)} of memory and {cpus}{' '}
      {cpus === 1 ? 'processor' : 'processors'}: <code>DAVIT_BUILD_MEMORY</code> and{' '}
      <code>DAVIT_BUILD_CPUS</code> say otherwise.
      {free !== null && ` None begins with less than ${bytes(free)} free on the disk.`}
    </p>
    {uncapped && (
      <ErrorAlert
        title="Nothing holds a build to this"
        detail={`A build may use all memory and processors of the server, because ${uncapped}. With DAVIT_BUILDER=classic the engine holds it itself.`}
      />
    )}
  </div>
)
