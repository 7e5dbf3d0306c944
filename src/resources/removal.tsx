import type { Context } from 'hono'
import { z } from 'zod'
import { AppError } from '../platform/errors.ts'
import { clientOf } from '../web/client.ts'
import { ModalForm } from '../web/dialog.tsx'
import type { Crumb } from '../web/components.tsx'
import { flag } from '../web/fields.ts'
import { show } from '../web/respond.tsx'

export const removalQuery = z.object({ confirm: flag().optional(), force: flag().optional() })

type Used = {
  name: string
  noun: string
  verb: string
  users: { href: string; name: string }[]
  /** Continued by their names; omitted if it can't be removed while it has users. */
  without: string | undefined
  action: string
  from: Crumb
}

/** Undefined without users, or when it is confirmed. Otherwise a refusal: for people a dialog that can confirm. */
export function refuseUsed(c: Context, { users, without, name, noun, ...used }: Used) {
  const { confirm, force } = removalQuery.parse(c.req.query())
  if (users.length === 0 || (without && (confirm || force))) return undefined
  const isUsed = `The ${noun} ${name} is used by ${users.map((user) => user.name).join(', ')}.`
  if (!without) throw new AppError('conflict', `${isUsed} Remove it there first.`)
  if (clientOf(c) === 'program')
    throw new AppError('conflict', `${isUsed} Use ?confirm=1 to remove it from them, too.`)
  const page = () => (
    <ModalForm
      title={[<bdi>{name}</bdi>, ' is in use']}
      from={used.from}
      action={`${used.action}?confirm=1`}
      method="DELETE"
      submit={`${used.verb} ${noun}`}
      destructive
    >
      <p>{without}</p>
      <ul>
        {users.map((user) => (
          <li>
            <a href={user.href}>
              <bdi>{user.name}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </ModalForm>
  )
  return show(c, { title: `Remove ${name}`, page }, 409)
}
