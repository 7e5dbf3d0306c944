import { Checkbox, FormError, SelectField, TextField } from '../../web/fields-view.tsx'
import { PostForm, SaveRow } from '../../web/form.tsx'
import type { Draft } from '../../web/draft.ts'
import { Ago } from '../../web/times.tsx'
import { scheduledKinds } from './forms.ts'
import { KindChoice } from './kind-choice.tsx'
import type { Schedule } from './schedule-store.ts'

type Props = { schedule: Schedule; draft?: Draft }

export const CleanUpForm = ({ schedule, draft }: Props) => (
  <PostForm
    id="clean-up-schedule"
    class="form"
    draft={draft}
    action="/settings/prune/schedule"
    method="PUT"
    replaces="this"
  >
    <FormError />
    <Checkbox name="enabled" label="Clean up every day" value={schedule.enabled} />
    <KindChoice
      label="Remove"
      kinds={scheduledKinds}
      ticked={schedule.what}
      error={draft?.errors['what']}
    />
    <div class="field-row">
      <SelectField
        name="hour"
        label="At"
        value={schedule.hour}
        options={hours}
        hint="In the server’s time. If Davit is down then, it runs later that day."
      />
      <TextField
        name="threshold"
        label="Minimum disk usage (%)"
        value={schedule.threshold}
        type="number"
        min={0}
        max={99}
        required
        hint="0 means always."
      />
    </div>
    <LastRun {...schedule} />
    <SaveRow />
  </PostForm>
)

const hours = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, '0')}:00`,
}))

const LastRun = ({ lastRunAt, lastOutcome }: Schedule) =>
  lastOutcome === null ? null : (
    <p class="note">
      Last run: <Ago at={lastRunAt} />. {lastOutcome}
    </p>
  )
