import hydra, logging, torch
log = logging.getLogger(__name__)
@hydra.main(version_base=None, config_path=None)
def main(cfg):
    m = torch.nn.Linear(4, 1); o = torch.optim.SGD(m.parameters(), cfg.lr)
    for step in range(1, 201):
        l = m(torch.randn(8, 4)).pow(2).mean(); o.zero_grad(); l.backward(); o.step()
        if step % 10 == 0: log.info(f"step {step} loss {l.item():.4f}"); print(f"step {step} loss {l.item():.4f}")
main()
