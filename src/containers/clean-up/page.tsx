import { FormError, Checkboxes, SelectField } from '../../web/fields-view.tsx'
import { Button, PostForm, SaveRow } from '../../web/form.tsx'
import type { Draft } from '../../web/draft.ts'
import { SchemaFields } from '../../web/schema-fields.tsx'
import { SettingsSection } from '../../web/settings-frame.tsx'
import { Ago } from '../../web/times.tsx'
import type { CleanUp } from './clean-ups.ts'
import type { BuildLimits } from './disk.ts'
import { DiskChart } from './disk-chart.tsx'
import type { ShownDisk } from './disk-chart.tsx'
import { firstServer } from '../../platform/root.ts'
import { optionsOf, pruneKinds } from './kinds.ts'
import type { Schedule } from './schedule-store.ts'
import { ErrorAlert } from '../../web/failures.tsx'
import { bytes, counted } from '../../web/units.ts'
import { scheduleForm } from './forms.ts'

export const prunePath = '/settings/prune'

type PruneOverview = ShownDisk & {
  builds: BuildLimits
  schedule: Schedule
  latest: CleanUp | null
  draft: Draft
}

export const PruneOverviewSections = (overview: PruneOverview) => (
  <div id="clean-up">
    <SettingsSection id="disk" title="Disk" about="Disk usage of Docker and Davit.">
      <DiskChart {...overview} />
    </SettingsSection>
    <SettingsSection
      id="now"
      title="Clean up now"
      about="You see each item and its size first, and choose. Everything that apps, services and rollbacks need is kept."
    >
      <NowForm {...overview} />
    </SettingsSection>
    <SettingsSection
      id="schedule"
      title="Daily clean-up"
      about="Removes what Davit created and no longer needs, and build cache unused for a day. Never volumes, and nothing that Davit didn’t create."
    >
      <CleanUpForm schedule={overview.schedule} />
    </SettingsSection>
    <SettingsSection id="builds" title="Builds" about="Limits that protect the running apps.">
      <BuildLimitsView {...overview.builds} />
    </SettingsSection>
  </div>
)

const NowForm = ({ draft, latest, others }: PruneOverview) => (
  <PostForm
    action={prunePath}
    class="form"
    draft={draft}
    replaces="#clean-up"
    hx-swap="outerHTML show:window:top"
  >
    <FormError />
    <input type="hidden" name="dry_run" value="1" />
    <Checkboxes
      name="what"
      id="look-for"
      label="Look for"
      values={pruneKinds.filter((kind) => kind !== 'volumes')}
      options={optionsOf(pruneKinds)}
    />
    {others.length > 0 && (
      <SelectField
        name="server"
        label="On"
        value=""
        options={[
          { value: '', label: 'All servers' },
          { value: firstServer, label: 'Davit’s server' },
          ...others.map(({ id, name }) => ({ value: id, label: name })),
        ]}
      />
    )}
    <div class="form-actions start">
      <Button>Show what can be removed</Button>
      {latest && (
        <p class="muted">
          <a href={`${prunePath}/result`}>
            {latest.finishedAt ? 'Last clean-up' : 'A clean-up is running'}
          </a>{' '}
          by <bdi>{latest.by}</bdi> <Ago at={latest.startedAt} />
        </p>
      )}
    </div>
  </PostForm>
)

const BuildLimitsView = ({ memory, cpus, free, uncapped }: BuildLimits) => (
  <div>
    <p class="muted">
      One build may use {bytes(memory)} of memory and {counted(cpus, 'processor')}:{' '}
      <code>DAVIT_BUILD_MEMORY</code> and <code>DAVIT_BUILD_CPUS</code> change this.
      {free !== null && ` No build starts with less than ${bytes(free)} free on the disk.`}
    </p>
    {uncapped && (
      <ErrorAlert
        title="Build limits aren’t enforced"
        detail={`A build may use all memory and processors of the server, because ${uncapped}. With DAVIT_BUILDER=classic Docker enforces them.`}
      />
    )}
  </div>
)

export const CleanUpForm = ({ schedule, draft }: { schedule: Schedule; draft?: Draft }) => (
  <PostForm
    id="clean-up-schedule"
    class="form"
    draft={draft}
    action="/settings/prune/schedule"
    method="PUT"
    replaces="this"
  >
    <FormError />
    <SchemaFields schema={scheduleForm} values={schedule} />
    <LastRun {...schedule} />
    <SaveRow />
  </PostForm>
)

const LastRun = ({ lastRunAt, lastOutcome }: Schedule) =>
  lastOutcome === null ? null : (
    <p class="note">
      Last run: <Ago at={lastRunAt} />. {lastOutcome}
    </p>
  )
