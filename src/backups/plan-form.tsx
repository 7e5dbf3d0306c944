import { ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import { optionsOf } from '../web/labelled-fields.ts'
import { SchemaFields } from '../web/schema-fields.tsx'
import { planForm } from './forms.ts'
import type { Plan } from './store.ts'
import { backupsPath } from './subject.ts'
import type { Subject } from './subject.ts'
import type { TargetRow } from './targets/store.ts'

type Props = { subject: Subject; plan: Plan | null; targets: TargetRow[]; draft: Draft }

export const PlanForm = ({ subject, plan, targets, draft }: Props) => (
  <ModalForm
    title={['Backup plan of ', <bdi>{subject.name}</bdi>]}
    from={{ href: backupsPath(subject), name: 'Backups' }}
    action={`${backupsPath(subject)}/plan`}
    method="PUT"
    submit="Save plan"
    draft={draft}
    wide
  >
    <SchemaFields
      schema={planForm}
      values={plan ?? { schedule: '0 3 * * *' }}
      more={{ targetId: { options: optionsOf(targets) } }}
    />
  </ModalForm>
)
