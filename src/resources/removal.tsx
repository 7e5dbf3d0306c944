import type { Context } from 'hono'
import { z } from 'zod'
import { AppError } from '../platform/errors.ts'
import { clientOf } from '../web/client.ts'
import { ModalForm } from '../web/dialog.tsx'
import type { Crumb } from '../web/components.tsx'
import { flag } from '../web/fields.ts'
import { bodyOrQuery } from '../web/query.ts'
import { show } from '../web/respond.tsx'

const removalQuery = z.object({ confirm: flag().optional(), force: flag().optional() })

/** Of what may be lost with its users. */
const lossQuery = removalQuery.extend({
  volumes: z.enum(['refuse', 'give_up'], 'must be refuse or give_up.').optional(),
})

export const removalCheck = ({ lost }: { lost?: unknown }) =>
  bodyOrQuery(lost ? lossQuery : removalQuery)

/** What was asked for; nothing of what has no users. */
export const removalOf = (c: Context) => (c.get('input') ?? {}) as z.output<typeof lossQuery>

type Used = {
  name: string
  noun: string
  verb: string
  users: { href: string; name: string }[]
  /** Continued by their names; omitted if it can't be removed while it has users. */
  without?: string
  todo?: string
  /** What is said of a row that is lost, whose users can be given up. */
  lost: string | null
  action: string
  from: Crumb
}

/** Undefined without users, or when it is confirmed. Otherwise a refusal: for people a dialog that can confirm. */
export function refuseUsed(c: Context, { users, without, todo, lost, name, noun, ...used }: Used) {
  const { confirm, force, volumes } = removalOf(c)
  const isConfirmed = (without && (confirm || force)) || (lost && volumes === 'give_up')
  if (users.length === 0 || isConfirmed) return undefined
  const isUsed = `The ${noun} ${name} is used by ${users.map((user) => user.name).join(', ')}.`
  if (!without && !lost)
    throw new AppError('conflict', `${isUsed} ${todo ?? 'Remove it there first.'}`)
  if (clientOf(c) === 'program')
    throw new AppError(
      'conflict',
      lost
        ? `${isUsed} ${lost} Use ?volumes=give_up to remove it nevertheless.`
        : `${isUsed} Use ?confirm=1 to remove it from them, too.`,
    )
  const page = () => (
    <ModalForm
      title={[<bdi>{name}</bdi>, ' is in use']}
      from={used.from}
      action={lost ? used.action : `${used.action}?confirm=1`}
      method="DELETE"
      submit={`${used.verb} ${noun}`}
      destructive
    >
      <p>{lost ?? without}</p>
      <ul>
        {users.map((user) => (
          <li>
            <a href={user.href}>
              <bdi>{user.name}</bdi>
            </a>
          </li>
        ))}
      </ul>
      {lost && (
        <div class="field check">
          <input type="checkbox" id="volumes" name="volumes" value="give_up" required />
          <label for="volumes">Give up what is on it</label>
        </div>
      )}
    </ModalForm>
  )
  return show(c, { title: `Remove ${name}`, page }, 409)
}
