import { auditor } from '../audit/record.ts'
import { report } from '../platform/journal.ts'
import { removalForm } from '../projects/forms.ts'
import { refuseWithoutEngine, volumesOf } from '../runtime/remove.ts'
import { RemovalReport } from '../projects/removal-report.tsx'
import { factory } from '../web/factory.ts'
import { bodyOrQuery } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { within } from '../web/within.ts'
import { DeleteServiceModal } from './delete-service.tsx'
import { ownService, servicePath, servicePattern } from './own-service.ts'
import { removeService } from './remove.ts'
import type { RemovalDeps } from './remove.ts'
import { updateService } from './store.ts'

/** The end of an instance: it is asked about, then goes with all that was made for it. */
export const removalRoutes = (deps: RemovalDeps) => {
  const { db } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get(`${servicePattern}/delete`, async (c) => {
      const service = ownService(deps, c)
      const volumes = await volumesOf(deps, { serviceId: service.id })
      return show(c, {
        title: `Delete ${service.name}`,
        page: () => <DeleteServiceModal service={service} volumes={volumes} />,
        json: () => ({ volumes }),
      })
    })
    .delete(servicePattern, async (c) => {
      const service = ownService(deps, c)
      const { id, name } = service
      const asked = await bodyOrQuery(c, removalForm)
      const volumes = asked.volumes ?? service.deletingVolumes
      await refuseWithoutEngine(deps)
      db.transaction(() => {
        const deletingAt = service.deletingAt ?? new Date()
        updateService(db, id, { deletingAt, deletingVolumes: volumes })
        audit(c, 'service.deleted', {
          object: { kind: 'service', id, name },
          details: { volumes: volumes ? 'deleted' : 'kept' },
        })
      })
      const work = removeService(deps, { service, volumes })
      const removed = await within(deps.config.patience, work)
      const done = removed !== null
      if (!done) {
        work.catch((error) => report('a service was not removed', error, { service: id }))
        c.header('Location', servicePath(service))
      }
      const view = {
        title: `Delete ${name}`,
        page: () => <RemovalReport of="service" name={name} removed={removed ?? []} done={done} />,
        json: () => ({ removed: removed ?? [] }),
      }
      return show(c, view, done ? 200 : 202)
    })
}
