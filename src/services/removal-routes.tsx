import { auditor } from '../audit/record.ts'
import { removalForm } from '../projects/forms.ts'
import { refuseWithoutEngine, volumesOf } from '../runtime/remove.ts'
import { answerRemoval, RemovalModal } from '../projects/removal.tsx'
import { factory } from '../web/factory.ts'
import { bodyOrQuery } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { ownService, servicePattern } from './own-service.ts'
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
      const { id, name } = ownService(deps, c)
      const volumes = await volumesOf(deps, { serviceId: id })
      return show(c, {
        title: `Delete ${name}`,
        page: () => (
          <RemovalModal of="service" id={id} name={name} volumes={volumes} volumesHint={hint}>
            <p>
              Its containers, its network, its settings and its generated passwords are deleted.
              This can’t be undone.
            </p>
          </RemovalModal>
        ),
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
      return answerRemoval(c, work, { of: 'service', id, name, patience: deps.config.patience })
    })
}

const hint =
  'The data in them is lost. Left unticked, they stay on this host: note the passwords that they need first.'
