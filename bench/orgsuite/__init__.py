"""The ways in which companies of agents fail, played by a scripted model against the real engine.

The fourteen modes are those of the MAST taxonomy (Cemri and others, 2025). Each is one misbehaving
seat on one item, once with a reviewer who reads the record and once with one who nods. No model is
asked, so the answer is the same each time.

    make orgsuite

`modes.py` says how each mode misbehaves and when its fault stands, `scene.py` plays one on the real
runtime, `report.py` prints what became of them.
"""
