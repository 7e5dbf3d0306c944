import type { Context } from 'hono'
import { z } from 'zod'
import { isAdmin } from '../accounts/store.ts'
import { seesTexts } from '../accounts/token-scope.ts'
import { auditor } from '../audit/record.ts'
import type { Db } from '../db/index.ts'
import { notFound } from '../platform/errors.ts'
import { updateService } from '../services/store.ts'
import { flag } from '../web/fields.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { requireAdmin, userOf } from '../web/user-of.ts'
import { show, showSaved } from '../web/respond.tsx'
import { settingsView, SettingsList } from '../web/settings-frame.tsx'
import { listGranted } from './store.ts'
import { meaningOf } from '../services/compose/dangers.ts'
import { EmptyState } from '../web/components.tsx'
import { Button, PostForm } from '../web/form.tsx'

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
      const found = grantsIn(db).find(({ service }) => service.id === c.req.param('id'))
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

  function view(c: Context) {
    const items = grantsIn(db)
    return settingsView(c, {
      path: grantsPath,
      title: 'Grants',
      list: () => <GrantList items={items} withFiles={seesTexts(c)} />,
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

const grantsPath = '/settings/grants'

const grantsIn = (db: Db) =>
  listGranted(db).map(({ by, ...grant }) => ({
    ...grant,
    /** The admin who allowed it; null once it has lapsed. */
    by: by !== null && isAdmin(db, by.id) ? by : null,
  }))

type Grant = ReturnType<typeof grantsIn>[number]

/** The files can hold secrets. */
type Shown = { withFiles: boolean }

const GrantList = ({ items, withFiles }: { items: Grant[] } & Shown) => (
  <SettingsList
    id="grants"
    aria-label="Grants"
    about="Services that an admin gave access to this server. After a revocation they can’t be started or changed; their containers keep running until they are stopped."
    rows={items.map((grant) => (
      <Row grant={grant} withFiles={withFiles} />
    ))}
    empty={<EmptyState title="No service has access to this server" />}
  />
)

const Row = ({ grant: { service, owner, by }, withFiles }: { grant: Grant } & Shown) => (
  <li>
    <div class="row-main">
      <strong>
        <bdi>{service.name}</bdi>
      </strong>{' '}
      {by === null && <span class="tag">lapsed</span>}
      <p class="row-facts">
        <bdi>{owner.email}</bdi>
        {by && (
          <span>
            allowed by <bdi>{by.email}</bdi>
          </span>
        )}
      </p>
      <ul class="names">
        {service.allowed.map((key) => (
          <li>
            <bdi>{meaningOf(key)}</bdi>
          </li>
        ))}
      </ul>
      {withFiles && (
        <details>
          <summary>Compose file</summary>
          <pre class="compose-file">{service.compose}</pre>
        </details>
      )}
    </div>
    <div class="row-actions">
      <PostForm
        action={`${grantsPath}/${service.id}`}
        method="PUT"
        replaces="#grants"
        question={
          by
            ? {
                text: `Revoke the access of ${service.name} to this server?`,
                answer: 'Revoke grant',
              }
            : undefined
        }
      >
        <input type="hidden" name="granted" value={by ? '0' : '1'} />
        <Button
          variant="outline"
          small
          aria-label={`${by ? 'Revoke' : 'Allow again'}: ${service.name}`}
        >
          {by ? 'Revoke' : 'Allow again'}
        </Button>
      </PostForm>
    </div>
  </li>
)
