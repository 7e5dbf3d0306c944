/**
 * A process of its own that asks Davit, or an app at that host, for its health without a rest. For each line on
 * its standard input it prints the longest and the median answer since the line before, in milliseconds.
 */
export {} // top-level await is for modules

const [url, host] = process.argv.slice(2)
const headers = host ? { Host: host } : undefined
let answers: number[] = []
let from = performance.now()

void (async () => {
  while (true) {
    from = performance.now()
    await fetch(`${url}/health`, { headers }).then((answer) => answer.text())
    answers.push(performance.now() - from)
    await Bun.sleep(2)
  }
})()

for await (const _ of console) {
  answers.push(performance.now() - from)
  answers.sort((a, b) => a - b)
  console.log(answers.at(-1)!.toFixed(1), answers[answers.length >> 1]!.toFixed(1))
  answers = []
  from = performance.now()
}
process.exit(0)
