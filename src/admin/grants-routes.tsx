import type { Context } from 'hono'
import { z } from 'zod'
import { isAdmin } from '../accounts/store.ts'
import { auditor } from '../audit/record.ts'
import type { Db } from '../db/index.ts'
import { notFound } from '../platform/errors.ts'
import { updateService } from '../services/store.ts'
import { flag } from '../web/fields.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { requireAdmin, userOf } from '../web/user-of.ts'
import { show, showSaved } from '../web/respond.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { GrantList, grantsPath } from './grants-page.tsx'
import { listGranted } from './store.ts'

const grantForm = z.object({ granted: flag() })

/** Host access of services, which admins may revoke or allow again. */
export const grantRoutes = (deps: { db: Db }) => {
  const { db } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get(grantsPath, requireAdmin, (c) => show(c, view(c)))
    .put(`${grantsPath}/:id`, requireAdmin, input(grantForm), (c) => {
      const { granted } = c.var.input
      const found = grants().find(({ service }) => service.id === c.req.param('id'))
      if (!found) throw notFound('service')
      const { id, name } = found.service
      updateService(db, id, { allowedBy: granted ? userOf(c).id : null })
      audit(c, granted ? 'service.allowed' : 'service.disallowed', {
        object: { kind: 'service', id, name },
        details: { owner: found.owner.email, of: found.service.allowed.join(', ').slice(0, 1000) },
      })
      const said = `${name} is ${granted ? 'allowed' : 'no longer allowed'} what it asks for.`
      return showSaved(c, { to: grantsPath, said, ...view(c) })
    })

  function grants() {
    return listGranted(db).map(({ by, ...grant }) => ({
      ...grant,
      by: by !== null && isAdmin(db, by.id) ? by : null,
    }))
  }

  function view(c: Context) {
    const items = grants()
    return settingsView(c, {
      path: grantsPath,
      title: 'Grants',
      list: () => <GrantList items={items} />,
      json: () => ({
        items: items.map(({ service: { id, name, allowed }, owner, by }) => ({
          service: { id, name },
          owner,
          allowed,
          allowedBy: by,
        })),
        nextCursor: null,
      }),
    })
  }
}
