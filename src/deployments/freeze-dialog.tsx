import type { Context } from 'hono'
import { z } from 'zod'
import { mayWrite, refuseUngiven } from '../accounts/token-scope.ts'
import type { Db } from '../db/index.ts'
import { environmentPath } from '../environments/paths.ts'
import { snakeCase } from '../web/body.ts'
import { clientOf } from '../web/client.ts'
import { ModalForm } from '../web/dialog.tsx'
import type { Env } from '../web/factory.ts'
import { HiddenFields } from '../web/form.tsx'
import { show } from '../web/respond.tsx'
import { SchemaFields } from '../web/schema-fields.tsx'
import { At, In } from '../web/times.tsx'
import { Frozen } from './frozen.ts'
import { refuseFrozen } from './trigger.ts'
import { note } from './trigger-forms.ts'

/** Throws in a freeze, unless there is a note of someone who may end it. */
export function checkFreeze(c: Context, db: Db, asked: Parameters<typeof refuseFrozen>[1]) {
  const { token } = (c as Context<Env>).var
  if (refuseFrozen(db, asked, mayWrite(c)) && token)
    refuseUngiven(token, { method: 'DELETE', path: '/envs/:envId/freezes/:id' })
}

/** For the audit log. */
export const passedIn = (deployment: {
  freeze: { reason: string; note: string | null } | null
}) => {
  const { reason, note } = deployment.freeze ?? {}
  return note ? { freeze: reason!, note } : {}
}

/** Asks a person for the note, in a form that sends the same again. */
export async function askingForNote(
  c: Context,
  { action, sent }: { action: string; sent: Record<string, unknown> },
  start: () => Promise<Response>,
) {
  try {
    return await start()
  } catch (error) {
    if (!(error instanceof Frozen) || clientOf(c) === 'program') throw error
    const { environment, freeze } = error
    const fields = Object.entries(sent).flatMap(([name, value]) =>
      value == null ? [] : [{ name: snakeCase(name), value: value === true ? '1' : String(value) }],
    )
    const page = () => (
      <ModalForm
        title={
          <>
            <bdi>{environment.name}</bdi> is frozen
          </>
        }
        from={{ href: environmentPath(environment), name: environment.name }}
        action={action}
        submit="Deploy anyway"
      >
        <p>
          Until <At at={freeze.until} />, <In at={freeze.until} />: <bdi>{freeze.reason}</bdi>
        </p>
        <HiddenFields fields={fields} />
        <SchemaFields schema={z.object({ note: note().unwrap().unwrap() })} autofocus />
        <p class="muted">The note is kept in the audit log.</p>
      </ModalForm>
    )
    return show(c, { title: `${environment.name} is frozen`, page }, 409)
  }
}
