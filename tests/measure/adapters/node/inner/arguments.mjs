import { basename } from "node:path";
import { Bench } from "tinybench";

const [, , ...own] = process.argv;
const node = process.execArgv.filter((one) => !one.startsWith("--import"));
await new Bench().add(`${own.join(" ")} in ${basename(process.cwd())}, ${node}`, () => own.length).run();
