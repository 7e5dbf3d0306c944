import type { Context } from 'hono'
import { z } from 'zod'
import { isAdmin } from '../accounts/store.ts'
import { seesTexts } from '../accounts/token-scope.ts'
import { auditor } from '../audit/record.ts'
import type { Db } from '../db/index.ts'
import { notFound } from '../platform/errors.ts'
import { ResourceList } from '../resources/list.tsx'
import { updateService } from '../services/store.ts'
import { flag } from '../web/fields.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { requireAdmin, userOf } from '../web/user-of.ts'
import { show, showSaved } from '../web/respond.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { listGranted } from './store.ts'
import { meaningOf } from '../services/compose/dangers.ts'
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
      list: () => (
        <ResourceList
          path={grantsPath}
          title="Grants"
          about="Services that an admin gave access to this server. After a revocation they can’t be started or changed; their containers keep running until they are stopped."
          action={null}
          rows={items.map(({ service, owner, by }) => ({
            id: service.id,
            name: service.name,
            tags: [by === null && 'lapsed'],
            facts: [
              <bdi>{owner.email}</bdi>,
              by && (
                <>
                  allowed by <bdi>{by.email}</bdi>
                </>
              ),
            ],
            below: <Allowed service={service} withFile={seesTexts(c)} />,
            actions: <GrantForm name={service.name} id={service.id} isGranted={by !== null} />,
          }))}
          nextCursor={null}
          empty={{ title: 'No service has access to this server' }}
        />
      ),
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

/** Its file can hold secrets. */
const Allowed = ({ service, withFile }: Pick<Grant, 'service'> & { withFile: boolean }) => (
  <>
    <ul class="names">
      {service.allowed.map((key) => (
        <li>
          <bdi>{meaningOf(key)}</bdi>
        </li>
      ))}
    </ul>
    {withFile && (
      <details>
        <summary>Compose file</summary>
        <pre class="compose-file">{service.compose}</pre>
      </details>
    )}
  </>
)

type FormProps = { id: string; name: string; isGranted: boolean }

const GrantForm = ({ id, name, isGranted }: FormProps) => {
  const label = isGranted ? 'Revoke' : 'Allow again'
  const text = `Revoke the access of ${name} to this server?`
  return (
    <PostForm
      action={`${grantsPath}/${id}`}
      method="PUT"
      replaces="#grants"
      question={isGranted ? { text, answer: 'Revoke grant' } : undefined}
    >
      <input type="hidden" name="granted" value={isGranted ? '0' : '1'} />
      <Button variant="outline" small aria-label={`${label}: ${name}`}>
        {label}
      </Button>
    </PostForm>
  )
}
