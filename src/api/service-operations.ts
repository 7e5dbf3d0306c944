import { z } from 'zod'
import { jobLogQuery, logQuery, logStreamQuery } from '../logs/forms.ts'
import { removalForm } from '../projects/forms.ts'
import {
  anyServiceForm,
  catalogueQuery,
  ownFileForm,
  ownServiceForm,
  serviceForm,
  serviceUpdateForm,
} from '../services/forms.ts'
import { streamQuery } from '../web/query.ts'
import { operationsOf } from './operation.ts'
import { listOf, logLine, outputExtent, outputLine, removal } from './resources.ts'
import * as resource from './service-resources.ts'

/** The catalogue, and what is made of it. */
export function services() {
  const { get, post, put, remove } = operationsOf('Services')
  const { service, template, difference } = resource
  const made = { answer: service, created: true }
  const listed = z.object({
    templates: z.array(resource.catalogueEntry),
    instances: z.array(service),
    nextCursor: z.string().nullable(),
  })
  return [
    get('/services', 'Search the catalogue, and list your services', {
      query: catalogueQuery,
      answer: listed,
    }),
    get('/services/:template/configure', 'Ask what a template wants', { answer: template }),
    post('/services/:template', 'Make a service; beside these, a field for each variable', {
      body: serviceForm,
      ...made,
    }),
    post('/services', 'Make a service of the template named', { body: anyServiceForm, ...made }),
    post('/services/deploy', 'Make a service; another name of the same', {
      body: anyServiceForm,
      ...made,
    }),
    post('/services/compose', 'Make a service of a Compose file of your own', {
      body: ownServiceForm,
      ...made,
    }),
    post('/services/compose/configure', 'Ask what a Compose file wants; makes nothing', {
      body: ownFileForm,
      answer: template,
    }),
    get('/services/:id', 'Look at a service', { answer: service }),
    get('/services/:id/events', 'Follow its state and its pulls; with format json as JSON', {
      query: streamQuery,
      answer: resource.serviceEvent,
      streams: true,
    }),
    get('/services/:id/output', 'Read or search what its containers wrote', {
      query: logQuery,
      answer: listOf(outputLine).extend(outputExtent),
    }),
    get('/services/:id/output/stream', 'Follow what its containers write', {
      query: logStreamQuery,
      answer: outputLine,
      streams: true,
    }),
    get(
      '/services/:id/logs',
      'Read or search what its last start, change or restart did; with format follow it',
      {
        query: jobLogQuery,
        answer: listOf(logLine),
      },
    ),
    get('/services/:id/secrets', 'See how clients reach it, secrets too; wants write', {
      answer: resource.connection,
    }),
    get('/services/:id/edit', 'Look at the values of its variables, without secrets', {
      answer: template.extend({ values: z.record(z.string(), z.string().nullable()) }),
    }),
    put('/services/:id', 'Change a service; with preview, only tell what would change', {
      body: serviceUpdateForm,
      answer: z.union([service, difference]),
    }),
    post('/services/:id/restart', 'Restart a service, or start it', { answer: service }),
    post('/services/:id/stop', 'Stop a service', { answer: service }),
    post('/services/:id/cancel', 'End what is under way', { answer: service }),
    remove('/services/:id', 'Delete a service and what it runs; says what went', {
      query: removalForm,
      answer: removal,
    }),
  ]
}
