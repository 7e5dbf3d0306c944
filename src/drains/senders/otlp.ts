import { cut, oneLine } from '../../notifications/senders/text.ts'
import { flagField } from '../../web/labelled-fields.ts'
import { drainSender, httpFields, nanosecondsOf, post, severityOf, usual } from './sender.ts'

const path = '/v1/logs'

const severities = {
  ...{ error: { severityNumber: 17, severityText: 'ERROR' } },
  ...{ warn: { severityNumber: 13, severityText: 'WARN' } },
  ...{ info: { severityNumber: 9, severityText: 'INFO' } },
  ...{ debug: { severityNumber: 5, severityText: 'DEBUG' } },
}

/** https://opentelemetry.io/docs/specs/otlp/#otlphttp, with JSON. */
export const otlp = drainSender({
  label: 'OpenTelemetry',
  fields: (config) => ({
    ...httpFields(
      config,
      'https://otlp.example.com',
      `OTLP over HTTP; lines are sent to ${path} there.`,
    ),
    traces: flagField('Also traces of deployments', {
      hint: 'A span for each step and call, sent to /v1/traces there.',
    }),
  }),
  ...usual,
  async send(deps, settings, { lines, project, environment }) {
    const byContainer = Map.groupBy(lines, ({ container, process }) => `${process} ${container}`)
    const { json } = await post(deps, settings, {
      ...{ title: 'The receiver', path },
      body: {
        resourceLogs: [...byContainer.values()].map((all) => ({
          resource: {
            attributes: attributesOf({
              'service.name': project.name,
              'deployment.environment.name': environment.name,
              'davit.process': all[0]!.process,
              'davit.deployment': all[0]!.deploymentId,
              'container.name': all[0]!.container,
            }),
          },
          scopeLogs: [
            {
              scope: { name: 'davit' },
              logRecords: all.map((line) => ({
                timeUnixNano: nanosecondsOf(line),
                observedTimeUnixNano: nanosecondsOf(line),
                ...severityOf(line, severities),
                body: { stringValue: line.text },
                attributes: attributesOf({ 'log.iostream': line.stream }),
              })),
            },
          ],
        })),
      },
      reasonIn: ({ message }, text) => message ?? text,
    })
    return rejectedIn(json, 'rejectedLogRecords', lines.length)
  },
})

/** What a receiver that took the rest left out, and why. */
export function rejectedIn({ partialSuccess }: Record<string, any>, name: string, most: number) {
  const { [name]: count, errorMessage = '' } = partialSuccess ?? {}
  const rejected = Math.min(most, Math.max(0, Math.floor(Number(count) || 0)))
  return { rejected, reason: cut(oneLine(String(errorMessage)), 200).replace(/\.+$/, '') }
}

/** Those without a value are left out. */
export const attributesOf = (values: Record<string, string | number | null>) =>
  Object.entries(values)
    .filter(([, value]) => value !== '' && value !== null)
    .map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value! },
    }))
