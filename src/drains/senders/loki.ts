import { drainSender, httpFields, nanosecondsOf, post, usual } from './sender.ts'

const path = '/loki/api/v1/push'

/** https://grafana.com/docs/loki/latest/reference/loki-http-api/#ingest-logs */
export const loki = drainSender({
  label: 'Loki',
  fields: (config) =>
    httpFields(config, 'https://loki.example.com', `Lines are sent to ${path} there.`),
  ...usual,
  async send(deps, settings, { lines, project, environment }) {
    const streams = Map.groupBy(lines, ({ process, stream }) => `${stream} ${process}`)
    await post(deps, settings, {
      ...{ title: 'Loki', path },
      body: {
        streams: [...streams.values()].map((all) => ({
          stream: {
            ...{ job: 'davit', project: project.name, environment: environment.name },
            ...(all[0]!.process && { process: all[0]!.process }),
            stream: all[0]!.stream,
          },
          values: all.map((line) => [nanosecondsOf(line), line.text]),
        })),
      },
      reasonIn: (_, text) => text,
    })
  },
})
