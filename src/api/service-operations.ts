import { z } from 'zod'
import { creates, does, follows, reads, works } from '../web/operation.ts'
import type { Operations } from '../web/operation.ts'
import { jobLog, logLine, output, outputLine, removal } from './resources.ts'
import * as resource from './service-resources.ts'
import { traffic } from './traffic-resources.ts'

const { service, template } = resource

/** Fields of a service event besides the progress of its pulls. */
const serviceEvent = z.object({
  status: service.shape.status,
  error: z.string().nullable(),
  pull: z.array(
    z.object({
      image: z.string(),
      layers: z.array(
        z.object({ id: z.string(), status: z.string(), current: z.int(), total: z.int() }),
      ),
      done: z.boolean(),
    }),
  ),
})

/** The catalogue and services. */
export const services: Operations = {
  'GET /services': does('Search the catalogue, and list your services', resource.serviceList),
  'POST /services': creates('Create a service from the named template', service),
  'POST /services/deploy': creates('Create a service from the named template; an alias', service),
  'POST /services/compose': creates('Create a service from your own Compose file', service),
  'POST /services/compose/configure': does('Check a Compose file; creates nothing', template),
  'GET /services/:template/configure': does('Get a template with its variables', template),
  'GET /services/:id': does('Get a service', service),
  'POST /services/:template': creates(
    'Create a service; the id is a template’s name, and each of its variables is a field',
    service,
  ),
  'PUT /services/:id': {
    summary: 'Change a service; with preview, only list the changes',
    answers: { 200: z.union([service, resource.difference]), 202: service },
  },
  'DELETE /services/:id': works('Delete a service and what it runs', removal),
  'GET /services/:id/edit': does(
    'Get its template with its current values, without secrets',
    resource.editedTemplate,
  ),
  'GET /services/:id/secrets': does('Get how clients connect, with secrets', resource.connection),
  'POST /services/:id/restart': works('Restart a service, or start it', service),
  'POST /services/:id/stop': works('Stop a service', service),
  'POST /services/:id/cancel': works('Cancel what is under way', service),
  'GET /services/:id/events': follows('Follow its state and the images it pulls', serviceEvent),
  'GET /services/:id/output': reads('Read or search what its containers wrote', output),
  'GET /services/:id/traffic': does(
    'Get the requests of the last hour, day or week, of all its hosts or one',
    traffic,
  ),
  'GET /services/:id/output/stream': follows('Follow what its containers write', outputLine),
  'GET /services/:id/logs': reads(
    'Read, search or follow the log of its last start, change, restart or stop',
    jobLog,
    logLine,
  ),
}
